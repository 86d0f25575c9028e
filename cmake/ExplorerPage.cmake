# The report's page, bundled from web/ by npm at build time: PHAZE_EXPLORER_PAGE, empty where it is not built.
#
# web/ is copied into the build folder, so that nothing is installed or written beside the sources. Packages come from
# the registry that npm is set up with, exactly as web/package-lock.json names them.
find_program(PHAZE_NODE node)
find_program(PHAZE_NPM npm)
set(report_possible OFF)
if(PHAZE_NODE AND PHAZE_NPM)
  set(report_possible ON)
endif()
option(PHAZE_REPORT "Build the page of 'phaze report' into the program (needs node 18 or newer, and npm)" ${report_possible})
set(PHAZE_EXPLORER_PAGE "")
if(NOT PHAZE_REPORT)
  message(STATUS "phaze report: left out (nodejs and npm build it)")
  return()
endif()
if(NOT report_possible)
  message(FATAL_ERROR "PHAZE_REPORT needs node and npm: install nodejs and npm, or configure with -DPHAZE_REPORT=OFF")
endif()

set(PHAZE_WEB_DIR ${CMAKE_BINARY_DIR}/web)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/web
  ${CMAKE_SOURCE_DIR}/web/src/* ${CMAKE_SOURCE_DIR}/web/plugins/* ${CMAKE_SOURCE_DIR}/web/test/*)
list(APPEND web_sources index.html package.json package-lock.json tsconfig.json vite.config.ts)
set(web_copies "")
foreach(file IN LISTS web_sources)
  add_custom_command(
    OUTPUT ${PHAZE_WEB_DIR}/${file}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/web/${file} ${PHAZE_WEB_DIR}/${file}
    DEPENDS ${CMAKE_SOURCE_DIR}/web/${file}
    VERBATIM)
  list(APPEND web_copies ${PHAZE_WEB_DIR}/${file})
endforeach()

# The tests need a browser driver and more; those who only build do not.
set(npm_ci ${PHAZE_NPM} ci --prefer-offline --no-audit --no-fund --loglevel=error)
if(NOT PHAZE_TESTS)
  list(APPEND npm_ci --omit=dev)
endif()
add_custom_command(
  OUTPUT ${PHAZE_WEB_DIR}/installed.stamp
  COMMAND ${npm_ci}
  COMMAND ${CMAKE_COMMAND} -E touch ${PHAZE_WEB_DIR}/installed.stamp
  DEPENDS ${PHAZE_WEB_DIR}/package.json ${PHAZE_WEB_DIR}/package-lock.json
  WORKING_DIRECTORY ${PHAZE_WEB_DIR}
  COMMENT "Installing what the report's page is built with"
  VERBATIM)
set(PHAZE_EXPLORER_PAGE ${PHAZE_WEB_DIR}/dist/index.html)
add_custom_command(
  OUTPUT ${PHAZE_EXPLORER_PAGE}
  COMMAND ${PHAZE_NODE} node_modules/vite/bin/vite.js build --logLevel warn
  DEPENDS ${web_copies} ${PHAZE_WEB_DIR}/installed.stamp
  WORKING_DIRECTORY ${PHAZE_WEB_DIR}
  COMMENT "Bundling the report's page"
  VERBATIM)
add_custom_target(explorer_page DEPENDS ${PHAZE_EXPLORER_PAGE})
