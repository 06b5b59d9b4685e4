"""The rules for the outputs of all operators of ``acl.nn``, by the operator's name."""

from acl.objects import op_rules, op_rules_images, op_rules_matrix, op_rules_norm
from acl.objects.op_types import Rule

RULES: dict[str, Rule] = {
    name: rule
    for table in (op_rules.TABLE, op_rules_images.TABLE, op_rules_matrix.TABLE, op_rules_norm.TABLE)
    for rule, names in table.items()
    for name in names.split()
}
