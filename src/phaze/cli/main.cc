#include "phaze/cli/app.h"

int main(int argc, char** argv) { return phaze::cli::run(argc, argv); }
