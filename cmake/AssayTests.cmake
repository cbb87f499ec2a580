# Tests, found by folder:
#   tests/unit/test_*.c       one cmocka program each; may look inside the library
#   tests/reference/*.c       the models by plain loops, linked into those of tests/unit
#   tests/accuracy/test_*.c   the same, figures held against a known truth
#   tests/fuzz/fuzz_*.c       every saved input replayed (tests/fuzz/corpus/NAME/*)
#   tests/unit/plugin_*.c     plugins for these to load: NAME_shared.so and NAME_static.so
#   tests/fake/*.c            libraries of ours with the names of a GPU driver's, in tests/fake of the build
#   tests/fake/compute/*.c    those of a driver that computes, with the kernels of models/cuda; in tests/fake/compute
#   tests/FOLDER/test_*.sh    run with ASSAY_SOURCE, ASSAY_BUILD and ASSAY_SANITIZE in the environment
#   tests/python/test_*.py    run by Debian's Python with the package in build/python
#   tests/python/library_*.c  a library that scripts of these tests load
#   tests/FOLDER/subject_*.c  programs for these scripts to measure, linked as any program would be
# Exit status 77 is a skip, with the reason printed. Shell tests look at the build from outside, as a
# user does; in a sanitizer build only those in SANITIZED_FOLDERS make sense.
#
# In a cross build an emulator runs the tests (ASSAY_EMULATOR, see tests/emulator.h). Only those in CROSS_TESTS
# are there, and `emulated` builds what they need: what depends on the processor, its memory or its clock, and
# the scripts that compare the models with the host's Python. Statistics, records and reports are plain
# arithmetic and text; allocations are counted on the host. Those in PAGE_TESTS run twice: pages/NAME has the largest pages that a kernel may have.
set(SANITIZED_FOLDERS cli)
set(CROSS_TESTS
    "^unit/test_(clock|flops|instrument|journal|kill|memory|merge|model|monitor|profile|roofline|runtime)"
    "^unit/test_(sampling_live|single_step|sketch|task|unload)$"
    "^accuracy/test_heap(_processes|_spans|_threads)?$"
    "^accuracy/test_models_(field|graph|heat|lstm|mvar|road|road_evaluate)$"
    "^(fuzz/(journal|heap_file|safetensors)|pages/.*)$")
list(JOIN CROSS_TESTS "|" CROSS_TESTS)
set(PAGE_TESTS test_journal test_journal_growth test_kill test_monitor test_heap)

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
  message(STATUS "cmocka not found: no tests (make test installs it)")
  return()
endif()
# cmocka 2 calls assert_in_range() deprecated; its substitutes are not in cmocka 1.
target_compile_definitions(PkgConfig::CMOCKA INTERFACE CMOCKA_DISABLE_DEPRECATION_WARNINGS)

if(CMAKE_CROSSCOMPILING)
  # `assay` for the scripts: only the emulator can start assay-models, which is all that they need.
  set(EMULATED ${CMAKE_BINARY_DIR}/emulated)
  file(WRITE ${EMULATED}/assay
       "#!/bin/sh\nexec ${CMAKE_CROSSCOMPILING_EMULATOR} ${CMAKE_BINARY_DIR}/assay-models \"$@\"\n")
  file(CHMOD ${EMULATED}/assay FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  add_custom_target(emulated DEPENDS assay_models assay_heap)
endif()

function(assay_add_test name)
  if(CMAKE_CROSSCOMPILING)
    if(NOT name MATCHES "${CROSS_TESTS}")
      return()
    elseif(TARGET ${ARGV1})
      add_dependencies(emulated ${ARGV1})
    endif()
  endif()
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
    ENVIRONMENT "ASSAY_SOURCE=${CMAKE_SOURCE_DIR};ASSAY_BUILD=${CMAKE_BINARY_DIR};ASSAY_SANITIZE=${ASSAY_SANITIZE};ASSAY_EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}")
endfunction()

# Tests with kernels in them run again at each level below the highest (ASSAY_CPU, src/base/level.h), as
# NAME@LEVEL; tests/at-level skips the levels that this machine does not have.
set(LEVEL_TESTS test_models_graph test_models_graph_encoding test_models_kan test_models_kernel test_models_kernel_math
                test_models_lstm test_models_mlp test_models_mvar test_models_pde_burgers test_models_pde_heat
                test_models_road test_models_allocations)
function(assay_add_level_tests name program)
  foreach(level ${ASSAY_LOWER_LEVELS})
    assay_add_test(${name}@${level} bash ${CMAKE_SOURCE_DIR}/tests/at-level ${level} $<TARGET_FILE:${program}>)
  endforeach()
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/reference/*.c)
add_library(test_reference STATIC ${sources})
target_include_directories(test_reference PRIVATE ${CMAKE_SOURCE_DIR} src)
target_link_libraries(test_reference PUBLIC assay_models_static)

foreach(folder unit accuracy)
  file(GLOB sources CONFIGURE_DEPENDS tests/${folder}/test_*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${folder})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} src)
    target_link_libraries(${name} PRIVATE test_reference assay_store assay_studies assay_models_static assay_static
                                          PkgConfig::CMOCKA m)
    assay_add_test(${folder}/${name} ${name})
    if(name IN_LIST LEVEL_TESTS)
      assay_add_level_tests(${folder}/${name} ${name})
    endif()
    if(CMAKE_CROSSCOMPILING AND name IN_LIST PAGE_TESTS)
      assay_add_test(pages/${name} ${name})
      set_property(TEST pages/${name} APPEND PROPERTY ENVIRONMENT QEMU_PAGESIZE=65536)
    endif()
  endforeach()
endforeach()

# A part of the Python package that needs no Python.
target_sources(test_sampler_schedule PRIVATE python/sampler/schedule.c)

# The driver's libraries. Programs find the one that is opened at run time through the library path; the
# other is linked, since it must be in the process before us. "old" and "partial" lack entry points.
function(assay_add_fake library output folder)
  string(REGEX REPLACE "[^a-z]+" "_" target "fake_${library}${folder}")
  add_library(${target} SHARED tests/fake/${library}.c)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} SOVERSION 1 VERSION 1
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake${folder})
endfunction()
foreach(folder "" /old /partial)
  string(TOUPPER "${folder}" upper)
  string(REPLACE "/" "FAKE_" definition "${upper}")
  assay_add_fake(nvml nvidia-ml "${folder}" ${definition})
  assay_add_fake(cuda cuda "${folder}" ${definition})
endforeach()
assay_add_fake(cupti cupti "")
set_target_properties(fake_cupti PROPERTIES SOVERSION 13 VERSION 13)

# test_NAME needs the fakes of tests/fake/FOLDER: NVML in the library path, and the driver linked if it is named.
function(assay_use_fakes name folder)
  string(REGEX REPLACE "[^a-z]+" "_" variant "${folder}")
  add_dependencies(${name} fake_nvml${variant})
  if("cuda" IN_LIST ARGN)
    target_link_libraries(${name} PRIVATE fake_cuda${variant})
  endif()
  if(TEST unit/${name})
    set_property(TEST unit/${name} APPEND PROPERTY
                 ENVIRONMENT LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/tests/fake${folder})
  endif()
endfunction()
assay_use_fakes(test_device "")
assay_use_fakes(test_meter "")
assay_use_fakes(test_meter_operations "")
assay_use_fakes(test_sampling_meter "")
assay_use_fakes(test_gpu_boards "" cuda)
assay_use_fakes(test_gpu_old /old cuda)
assay_use_fakes(test_gpu_partial /partial cuda)
foreach(name test_gpu_stream test_gpu_stream_ends test_gpu_memory)
  target_link_libraries(${name} PRIVATE fake_cuda)
endforeach()

target_sources(test_scratch_dir PRIVATE cli/scratch_dir.c)
target_link_libraries(test_scratch_dir PRIVATE assay_cli_common)

# What libassay_cupti.so does with records, and our declarations of them against the toolkit's where it is.
target_sources(test_gpu_activity PRIVATE src/cupti/region.c src/cupti/submit.c)
find_path(CUPTI_INCLUDE_DIR cupti.h HINTS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
find_path(CUDA_INCLUDE_DIR cuda.h HINTS /usr/local/cuda/include)
if(CUPTI_INCLUDE_DIR AND CUDA_INCLUDE_DIR)
  target_compile_definitions(test_cupti_layout PRIVATE ASSAY_HAVE_CUPTI)
  target_include_directories(test_cupti_layout SYSTEM PRIVATE ${CUPTI_INCLUDE_DIR} ${CUDA_INCLUDE_DIR})
endif()

# A driver, cuBLAS and NVRTC that compute on the processor; opened at run time.
set(COMPUTE ${CMAKE_BINARY_DIR}/tests/fake/compute)
add_library(compute_cuda SHARED tests/fake/compute/cuda.c tests/fake/compute/emulator.c tests/fake/compute/kernels.c)
add_library(compute_cublas SHARED tests/fake/compute/cublas.c)
add_library(compute_nvrtc SHARED tests/fake/compute/nvrtc.c)
set_target_properties(compute_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
set_target_properties(compute_cublas PROPERTIES OUTPUT_NAME cublas SOVERSION 13)
set_target_properties(compute_nvrtc PROPERTIES OUTPUT_NAME nvrtc SOVERSION 13)
foreach(library compute_cuda compute_cublas compute_nvrtc)
  target_include_directories(${library} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${library} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${COMPUTE})
endforeach()
# Kernels are written for the device's compiler, which has no such warnings; stacks change under the sanitizers.
target_compile_options(compute_cuda PRIVATE -Wno-conversion -Wno-unknown-pragmas -Wno-shadow -fno-sanitize=all
                       $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
target_link_options(compute_cuda PRIVATE -fno-sanitize=all)
target_link_libraries(compute_cuda PRIVATE ${CMAKE_DL_LIBS} m)
foreach(name test_cuda_models test_cuda_road)
  add_dependencies(${name} compute_cuda compute_cublas compute_nvrtc)
  if(TEST unit/${name})
    set_property(TEST unit/${name} APPEND PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${COMPUTE})
  endif()
endforeach()

file(GLOB sources CONFIGURE_DEPENDS tests/unit/plugin_*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  foreach(library shared static)
    add_library(${name}_${library} MODULE ${source})
    set_target_properties(${name}_${library} PROPERTIES PREFIX ""
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/unit)
    target_link_libraries(${name}_${library} PRIVATE assay_${library})
    if(CMAKE_CROSSCOMPILING)
      add_dependencies(emulated ${name}_${library})
    endif()
  endforeach()
endforeach()

file(GLOB sources CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} tests/fuzz/replay.c)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fuzz)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR} src)
  target_link_libraries(${name} PRIVATE assay_store assay_studies assay_models_static assay_static)
  string(REPLACE "fuzz_" "" corpus ${name})
  assay_add_test(fuzz/${corpus} ${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
endforeach()

file(GLOB sources RELATIVE ${CMAKE_SOURCE_DIR}/tests CONFIGURE_DEPENDS tests/*/subject_*.c)
foreach(source ${sources})
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} tests/${source})
  set_target_properties(${name} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${folder})
  target_link_libraries(${name} PRIVATE assay_shared Threads::Threads)
endforeach()

target_include_directories(subject_gpu PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(subject_gpu PRIVATE fake_cupti ${CMAKE_DL_LIBS})

file(GLOB scripts RELATIVE ${CMAKE_SOURCE_DIR}/tests CONFIGURE_DEPENDS tests/*/test_*.sh)
foreach(script ${scripts})
  get_filename_component(folder ${script} DIRECTORY)
  get_filename_component(name ${script} NAME_WE)
  if(ASSAY_SANITIZE AND NOT folder IN_LIST SANITIZED_FOLDERS)
    continue()
  endif()
  assay_add_test(${folder}/${name} bash ${CMAKE_SOURCE_DIR}/tests/${script})
  if(CMAKE_CROSSCOMPILING AND TEST ${folder}/${name})
    set_property(TEST ${folder}/${name} APPEND PROPERTY ENVIRONMENT ASSAY_BUILD=${EMULATED})
  endif()
endforeach()
if(TEST cli/test_golden)
  set_tests_properties(cli/test_golden PROPERTIES TIMEOUT 900 COST 100) # every script of tests/cli/golden: begun first
endif()

if(TEST unit/test_cuda_models)
  # The emulated device switches stacks for each thread at each barrier, which takes minutes under the address sanitizer.
  set_tests_properties(unit/test_cuda_models PROPERTIES TIMEOUT 900 COST 60)
endif()

if(TEST package/test_python)
  set_tests_properties(package/test_python PROPERTIES TIMEOUT 900 COST 50) # compiles libassay
endif()

# tests/python/test_*.py: the package in build/python, tried by Debian's Python, which has PyTorch and pandas.
if(TARGET assay_python)
  find_program(ASSAY_TEST_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
  file(GLOB scripts RELATIVE ${CMAKE_SOURCE_DIR}/tests CONFIGURE_DEPENDS tests/python/test_*.py)
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    assay_add_test(python/${name} ${ASSAY_TEST_PYTHON} ${CMAKE_SOURCE_DIR}/tests/${script})
    set_property(TEST python/${name} APPEND PROPERTY ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python
                                                                 ASSAY_FAKE=${CMAKE_BINARY_DIR}/tests/fake
                                                                 PYTHONDONTWRITEBYTECODE=1)
  endforeach()
  add_library(library_ticks MODULE tests/python/library_ticks.c)
  set_target_properties(library_ticks PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/python)
endif()

# tests/fault: every allocation refused in turn. See failing_alloc.c for the two ways of linking.
file(GLOB sources CONFIGURE_DEPENDS tests/fault/*.c)
add_executable(fault ${sources})
set_target_properties(fault PROPERTIES ENABLE_EXPORTS ON
                      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fault)
target_include_directories(fault PRIVATE ${CMAKE_SOURCE_DIR})
target_compile_options(fault PRIVATE -fno-builtin)
if(ASSAY_SANITIZE)
  target_compile_definitions(fault PRIVATE FAULT_WRAP)
  foreach(name malloc calloc realloc reallocarray free aligned_alloc strdup mmap munmap posix_fallocate)
    target_link_options(fault PRIVATE -Wl,--wrap=${name})
  endforeach()
  target_link_libraries(fault PRIVATE assay_models_static assay_static)
else()
  target_link_libraries(fault PRIVATE assay_shared assay_models_shared Threads::Threads)
endif()
file(GLOB sources RELATIVE ${CMAKE_SOURCE_DIR}/tests/fault tests/fault/scenario_*.c)
foreach(source ${sources})
  string(REGEX REPLACE "scenario_(.*)\\.c" "\\1" name ${source})
  assay_add_test(fault/${name} fault ${name})
endforeach()
