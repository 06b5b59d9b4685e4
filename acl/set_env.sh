# Source this file from sh, bash or zsh: programs and builds then find this toolkit.

_acl_file=${BASH_SOURCE:-}
[ -z "${ZSH_VERSION:-}" ] || eval '_acl_file=${(%):-%x}'
if [ -z "$_acl_file" ]; then
    # Other shells do not say which file they are reading, but they hold it open.
    for _acl_open in /proc/"$(exec sh -c 'echo "$PPID"')"/fd/*; do
        _acl_open=$(readlink "$_acl_open") || continue
        case $_acl_open in
            */set_env.sh) [ ! -f "${_acl_open%/*}/include/acl/acl_sim.h" ] || _acl_file=$_acl_open ;;
        esac
    done
    unset _acl_open
fi
if [ -z "$_acl_file" ]; then
    echo "set_env.sh: this shell does not say where the file is; source it from bash" >&2
    unset _acl_file
    return 1
fi
ASCEND_HOME_PATH=$(CDPATH='' cd -- "$(dirname -- "$_acl_file")" >/dev/null && pwd)
unset _acl_file
export ASCEND_HOME_PATH
export ASCEND_TOOLKIT_HOME="$ASCEND_HOME_PATH"
export ASCEND_AICPU_PATH="$ASCEND_HOME_PATH"
export ASCEND_OPP_PATH="$ASCEND_HOME_PATH/opp"
# Builds of older releases are told these two by hand.
export DDK_PATH="$ASCEND_HOME_PATH"
export NPU_HOST_LIB="$ASCEND_HOME_PATH/lib64"
case "${LD_LIBRARY_PATH:-}:" in
    "$ASCEND_HOME_PATH/lib64:"*) ;;
    *) export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
case "${PATH:-}:" in
    "$ASCEND_HOME_PATH/bin:$ASCEND_HOME_PATH/tools/profiler/bin:"*) ;;
    *) export PATH="$ASCEND_HOME_PATH/bin:$ASCEND_HOME_PATH/tools/profiler/bin${PATH:+:$PATH}" ;;
esac
case "${CMAKE_PREFIX_PATH:-}:" in
    "$ASCEND_HOME_PATH:"*) ;;
    *) export CMAKE_PREFIX_PATH="$ASCEND_HOME_PATH${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}" ;;
esac
case "${PKG_CONFIG_PATH:-}:" in
    "$ASCEND_HOME_PATH/share/pkgconfig:"*) ;;
    *) export PKG_CONFIG_PATH="$ASCEND_HOME_PATH/share/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}" ;;
esac
