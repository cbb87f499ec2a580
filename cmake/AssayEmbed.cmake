# Files as constants of C: assay_embed(LIST file...) appends to LIST a source for each file, in which
# assay__text_NAME holds its bytes and a zero. Run as a script, it makes one of them.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${INPUT} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${OUTPUT} "extern const char assay__text_${NAME}[];\nconst char assay__text_${NAME}[] = {\n${bytes}0};\n")
  return()
endif()

function(assay_embed list)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME_WE)
    set(source ${CMAKE_BINARY_DIR}/embedded/${name}.c)
    add_custom_command(OUTPUT ${source}
                       COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${source} -DNAME=${name}
                               -P ${CMAKE_SOURCE_DIR}/cmake/AssayEmbed.cmake
                       DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/AssayEmbed.cmake)
    list(APPEND ${list} ${source})
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
