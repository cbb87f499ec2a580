# The page of `assay report --html`: web/ bundled by esbuild into bytes inside the command. Nothing is downloaded
# here; tools/setup puts esbuild and uPlot into web/node_modules. Without them the command has no pages and says so.
find_program(ASSAY_NODE NAMES node nodejs)
set(PAGE_ASSETS ${CMAKE_BINARY_DIR}/web/page_assets.c)
if(ASSAY_NODE AND EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/esbuild/package.json)
  file(GLOB PAGE_SOURCES CONFIGURE_DEPENDS web/src/*.ts web/style.css)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/web)
  add_custom_command(OUTPUT ${PAGE_ASSETS}
                     COMMAND ${ASSAY_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${PAGE_ASSETS}
                     DEPENDS ${PAGE_SOURCES} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web/package-lock.json
                     COMMENT "Bundling web/ into page_assets.c" VERBATIM)
  target_sources(assay PRIVATE ${PAGE_ASSETS})
  target_compile_definitions(assay PRIVATE ASSAY_HAVE_PAGE)
else()
  message(STATUS "no node or no web/node_modules (npm ci in web/): the command goes without pages")
endif()
