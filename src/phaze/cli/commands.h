// Each command adds itself, with its options and its callback, to the application.
#pragma once

namespace CLI {
class App;
}

namespace phaze::cli {

struct Session;

void add_model_command(CLI::App& app, Session& session);
void add_chip_command(CLI::App& app, Session& session);
void add_space_command(CLI::App& app, Session& session);
void add_estimate_command(CLI::App& app, Session& session);
void add_calibrate_command(CLI::App& app, Session& session);
void add_schedule_command(CLI::App& app, Session& session);
void add_place_command(CLI::App& app, Session& session);
void add_simulate_command(CLI::App& app, Session& session);
void add_export_command(CLI::App& app, Session& session);
void add_search_command(CLI::App& app, Session& session);
void add_compare_command(CLI::App& app, Session& session);
void add_report_command(CLI::App& app, Session& session);
void add_reference_command(CLI::App& app, Session& session);
void add_completion_command(CLI::App& app, Session& session);

}  // namespace phaze::cli
