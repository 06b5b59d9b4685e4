"""The rules for the outputs of all operators of ``acl.nn``, by the operator's name."""

from acl.objects import (
    op_rules,
    op_rules_attention,
    op_rules_experts,
    op_rules_images,
    op_rules_matrix,
    op_rules_norm,
    op_rules_quant,
    op_rules_sized,
)
from acl.objects.op_types import Rule


def _by_name(*tables: dict[Rule, str]) -> dict[str, Rule]:
    """Return the rules of tables by the operator's name."""
    return {name: rule for table in tables for rule, names in table.items() for name in names.split()}


# The operators whose outputs have a size that is known only when they have run: the rules give the largest one.
SIZED = _by_name(op_rules_sized.TABLE)
RULES = {
    **_by_name(
        op_rules.TABLE,
        op_rules_attention.TABLE,
        op_rules_experts.TABLE,
        op_rules_images.TABLE,
        op_rules_matrix.TABLE,
        op_rules_norm.TABLE,
        op_rules_quant.TABLE,
    ),
    **SIZED,
}
