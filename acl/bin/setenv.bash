# The same as set_env.sh, at the place of other releases.
. "$(dirname -- "${BASH_SOURCE:-$0}")/../set_env.sh"
