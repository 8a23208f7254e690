# SPDX-License-Identifier: Apache-2.0
# Runs FOLDER/run.sh and compares what it prints on stdout with FOLDER/expected.txt.
execute_process(COMMAND ${FOLDER}/run.sh OUTPUT_VARIABLE found ERROR_VARIABLE messages RESULT_VARIABLE status)
file(READ ${FOLDER}/expected.txt expected)
if(NOT status EQUAL 0 OR NOT found STREQUAL expected)
  message(FATAL_ERROR "${FOLDER}/run.sh: found exit code ${status}, expected 0, and this output\n${found}\n"
    "expected (expected.txt)\n${expected}\nmessages\n${messages}")
endif()
