// The document that `phaze` pastes into the page (docs/report.md). Units are SI throughout: seconds, bytes, watts;
// areas are square micrometres, as everywhere in Phaze.

export const kFormat = 'phaze-report/1';

// What a number is, so that it is written with the right unit.
export type Unit =
  | 'count'
  | 'bytes'
  | 'bytes/s'
  | 'um2'
  | 'watts'
  | 'seconds'
  | 'samples/s'
  | 'flops'
  | 'fraction'
  | 'score'
  | 'nm'
  | 'hz';

// One property of all chips. Values are either few and listed once, with a byte (base64) per chip that says which,
// or 32-bit floats, little-endian, in base64; NaN where there is none.
export interface Column {
  key: string;
  label: string;
  unit: Unit;
  role: 'parameter' | 'metric';
  values?: number[];
  codes?: string;
  floats?: string;
}

// What became of each chip; `codes` has a byte per chip, an index into `values`.
export interface Outcomes {
  values: { key: string; label: string; kind: 'evaluated' | 'pruned' | 'infeasible' | 'open' }[];
  codes: string;
}

export interface Space {
  chips: number;
  winner: number | null;
  score_label: string;
  score_unit: Unit;
  columns: Column[]; // among them "score" (evaluated chips) and "bound"
  outcomes: Outcomes;
}

export interface ChipDocument {
  name: string;
  tensor_cores: { count: number; rows: number; cols: number };
  vector_cores: { count: number; lanes: number };
  glb_bytes: number;
  hbm_bytes: number;
  hbm_bandwidth: number;
  clock_hz: number;
  process_nm: number;
  peak_flops: number;
  area_model: string;
  area_um2: number;
  area_by_part_um2: Record<string, number>;
  tdp_w: number;
  tdp_by_part_w: Record<string, number>;
  published: { die_mm2?: number; tdp_w?: number; peak_flops?: number } | null; // what the maker says
}

export interface MemoryParts {
  parameters: number;
  gradients: number;
  optimizer: number;
  activations: number;
  workspace: number;
  total: number;
}

export interface StageDocument {
  layers: number[];
  chunks: [number, number][];
  devices: number;
  forward_seconds: number;
  backward_seconds: number;
  recompute_seconds: number;
  recompute: string;
  memory_bytes: MemoryParts;
  simulated_peak_memory_bytes: number;
}

// As `phaze place --json` prints it.
export interface PlanDocument {
  feasible: boolean;
  reason?: string;
  throughput: number;
  tokens_per_s: number;
  time_per_batch: number;
  simulated_time_per_batch: number;
  mfu: number;
  pipeline: number;
  tensor_parallel: number;
  data_parallel: number;
  microbatch: number;
  microbatches: number;
  interleave: number;
  sequence_parallel: boolean;
  zero: number;
  order: string;
  devices: number;
  peak_memory_bytes: number;
  stages: StageDocument[];
  breakdown: Record<string, number>;
  plans?: RunnerUp[];
}

export interface RunnerUp {
  throughput: number;
  time_per_batch: number;
  pipeline: number;
  tensor_parallel: number;
  data_parallel: number;
  microbatch: number;
  interleave: number;
  zero: number;
  peak_memory_bytes: number;
  pareto: boolean; // no other of these is both as fast and as small
}

// One iteration, event by event. Columns of one number per event: activity (byte), device (u16), microbatch (u16),
// chunk (byte), start and end (f32 seconds).
export interface TimelineDocument {
  seconds: number;
  bubble_fraction: number;
  devices: number;
  microbatches: number;
  chunks: number;
  activities: string[];
  // Where an iteration has more events than a page should carry, microbatches from..to-1 are left out.
  left_out: [number, number] | null;
  messages: boolean; // whether messages between devices are among the events
  events: number;
  activity: string;
  device: string;
  microbatch: string;
  chunk: string;
  start: string;
  end: string;
}

export interface ScheduledOp {
  id: number;
  name: string;
  start: number;
  finish: number;
  demand: Record<string, number>;
}

export interface LayerSchedule {
  layer: string;
  repeat: number;
  pass: 'forward' | 'backward';
  makespan: number;
  lower_bound: number;
  status: 'optimal' | 'feasible' | 'serial';
  resources: Record<string, number>;
  ops: ScheduledOp[];
}

export interface ModelDocument {
  name: string;
  sequence: number;
  global_batch: number;
  parameters: number;
  devices: number;
  plan: PlanDocument | null;
  timeline: TimelineDocument | null;
  layer_schedules: LayerSchedule[] | null;
  alone: AloneDocument | null; // the best chip for this model alone
}

export interface AloneDocument {
  chip: string;
  area_um2: number;
  score: number;
  optimal: boolean;
  throughput: number | null;
}

export interface SearchSummary {
  status: 'running' | 'stopped' | 'finished';
  score: number | null;
  score_label: string;
  score_unit: Unit;
  objective: string;
  optimal: boolean;
  gap: number | null;
  evaluated: number;
  pruned: number;
  infeasible: number;
  open: number;
  pruned_by: Record<string, number>;
  seconds: number;
}

// As `phaze compare --json` prints it: a key per model, and "summary".
export interface ComparedModel {
  [method: string]: unknown; // throughput in samples/s, or null where there is no plan
  common_chip?: Record<string, number | null>;
}
export interface ComparisonSummary {
  reference?: string; // the known chip
  geometric_mean_over_tpuv4_expert?: Record<string, number | null>;
  common_chip_over_tpuv4_expert?: Record<string, number | null>;
}
export type ComparisonDocument = Record<string, ComparedModel | ComparisonSummary>;

// As `phaze search --why --json` prints it.
export interface NeighbourDocument {
  parameter: string;
  from: string;
  to: string;
  score: number | null;
  ratio: number | null;
  area_um2: number;
  allowed: boolean; // within the limits of the space
  limit: string; // the one that it breaks
}
export interface PassDocument {
  layer: string;
  repeat: number;
  pass: string;
  seconds: number;
  bound_by: string;
  bound_share: number;
  busy: { tensor: number; vector: number; hbm: number; network: number };
}
export interface ModelInsight {
  tensor_utilisation: number;
  vector_utilisation: number;
  layers: PassDocument[];
}
export interface InsightDocument {
  sensitivity: NeighbourDocument[];
  models: Record<string, ModelInsight>;
}

export interface ReportDocument {
  format: string;
  kind: 'search' | 'place';
  title: string;
  subtitle: string;
  phaze_version: string;
  command: string;
  created: string;
  settings: [string, string][];
  search: SearchSummary | null;
  chip: ChipDocument | null;
  space: Space | null;
  models: ModelDocument[];
  comparison: ComparisonDocument | null;
  insight: InsightDocument | null;
}
