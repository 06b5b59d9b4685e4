set breakpoint pending on
set print thread-events off
break sim_fail
run
backtrace
up
info args
