# The Python package, in build/python/assay: the files of python/assay, and the extension module made of python/core.
# The module keeps to the stable ABI of Python 3.10, so it does not matter which Python's headers are here. libassay is
# linked into it; nothing of it is visible from outside, so another libassay in the same process is not disturbed.
find_package(Python3 COMPONENTS Interpreter Development.Module)
if(NOT Python3_Development.Module_FOUND OR CMAKE_CROSSCOMPILING OR ASSAY_SANITIZE)
  message(STATUS "The Python package is not built: no headers of Python (Debian: python3-dev), or a build for tests only")
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS python/core/*.c)
# Figures of models that need no model: of this part of libassay_models the module has a copy, and needs no OpenBLAS.
file(GLOB figures CONFIGURE_DEPENDS models/profile/flop*.c models/profile/runtime*.c)
list(APPEND figures models/profile/forecast.c models/profile/graphs.c models/kernel/describe.c)
add_library(assay_python MODULE ${sources} ${figures})
set_target_properties(assay_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so C_VISIBILITY_PRESET hidden
                      LINK_DEPENDS ${CMAKE_SOURCE_DIR}/python/core/core.map
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/assay)
target_compile_definitions(assay_python PRIVATE Py_LIMITED_API=0x030A0000)
target_include_directories(assay_python PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
target_include_directories(assay_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_compile_options(assay_python PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3> -fno-semantic-interposition)
# The functions of Python are those of the program that loads the module.
target_link_options(assay_python PRIVATE -Wl,-z,undefs -Wl,--version-script=${CMAKE_SOURCE_DIR}/python/core/core.map -Wl,-z,nodelete -Wl,-z,now)
target_link_libraries(assay_python PRIVATE assay_static)

# assay._models: what needs the numerics of the models, for assay.generation alone.
file(GLOB sources CONFIGURE_DEPENDS python/models/*.c)
add_library(assay_python_models MODULE ${sources} python/core/errors.c python/core/text.c)
set_target_properties(assay_python_models PROPERTIES PREFIX "" OUTPUT_NAME _models SUFFIX .abi3.so C_VISIBILITY_PRESET hidden
                      LINK_DEPENDS ${CMAKE_SOURCE_DIR}/python/core/core.map
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/assay)
target_compile_definitions(assay_python_models PRIVATE Py_LIMITED_API=0x030A0000)
target_include_directories(assay_python_models PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(assay_python_models SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_link_options(assay_python_models PRIVATE -Wl,-z,undefs -Wl,--version-script=${CMAKE_SOURCE_DIR}/python/core/core.map -Wl,-z,nodelete)
target_link_libraries(assay_python_models PRIVATE assay_models_static assay_static)

# assay._sampler: it reads structures of the interpreter, so it is for the version of Python found here alone.
set(sampler)
if(Python3_VERSION VERSION_GREATER_EQUAL 3.11 AND Python3_VERSION VERSION_LESS 3.16)
  file(GLOB sources CONFIGURE_DEPENDS python/sampler/*.c)
  add_library(assay_python_sampler MODULE ${sources})
  set_target_properties(assay_python_sampler PROPERTIES PREFIX "" OUTPUT_NAME _sampler SUFFIX .${Python3_SOABI}.so
                        C_VISIBILITY_PRESET hidden LINK_DEPENDS ${CMAKE_SOURCE_DIR}/python/core/core.map
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/assay)
  target_include_directories(assay_python_sampler PRIVATE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(assay_python_sampler SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
  target_link_options(assay_python_sampler PRIVATE -Wl,-z,undefs -Wl,--version-script=${CMAKE_SOURCE_DIR}/python/core/core.map -Wl,-z,nodelete)
  target_link_libraries(assay_python_sampler PRIVATE m)
  set(sampler assay_python_sampler)
else()
  message(STATUS "assay._sampler is not built: it knows Python 3.11 to 3.15, not ${Python3_VERSION}")
endif()

file(GLOB_RECURSE files RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS python/assay/*.py python/assay/*.pyi
                                                                               python/assay/py.typed)
set(copies)
foreach(file ${files})
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/python/${file}
                     COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/python/${file} ${CMAKE_BINARY_DIR}/python/${file}
                     DEPENDS python/${file})
  list(APPEND copies ${CMAKE_BINARY_DIR}/python/${file})
endforeach()
add_custom_target(python ALL DEPENDS ${copies})
add_dependencies(python assay_python assay_python_models ${sampler})
list(APPEND PRODUCT python)
