# Prints the man pages of PROGRAM into OUT: its own, and one for each of its commands but those that are in its own (a program
# with one job). cmake -DPROGRAM=... -DNAME=... -DOUT=... -P man.cmake
file(MAKE_DIRECTORY ${OUT})
execute_process(COMMAND ${PROGRAM} --man OUTPUT_FILE ${OUT}/${NAME}.1 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} --complete "" OUTPUT_VARIABLE words COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z-]+\t" words "${words}")
foreach(word ${words})
  string(STRIP "${word}" word)
  if(EACH AND NOT word STREQUAL "help")
    execute_process(COMMAND ${PROGRAM} --man ${word} OUTPUT_FILE ${OUT}/${NAME}-${word}.1 COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
