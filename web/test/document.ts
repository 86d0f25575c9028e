// A document of the size of a search over the whole 2024 space, made up but of the right shape.
import type {
  Column,
  LayerSchedule,
  ModelDocument,
  Outcomes,
  PlanDocument,
  ReportDocument,
  StageDocument,
  TimelineDocument,
} from '../src/schema';
import { kFormat } from '../src/schema';

export const kFullSpace = 29_360;

// Marsaglia's xorshift: the same numbers on every machine.
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

const base64 = (array: ArrayBufferView): string => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

interface SyntheticChip {
  tensor: number;
  rows: number;
  cols: number;
  vector: number;
  buffer: number;
  area: number;
  score: number;
}

function synthesise(count: number): SyntheticChip[] {
  const chips: SyntheticChip[] = [];
  const random = randomNumbers(2024);
  const cap = 2.788e8;
  while (chips.length < count) {
    const power = (least: number, most: number): number => 2 ** (least + Math.floor(random() * (most - least + 1)));
    const tensor = power(0, 12);
    const rows = power(1, 8);
    const cols = power(1, 8);
    const vector = power(0, 12);
    const buffer = power(1, 7) * 2 ** 20;
    const area = 760 * tensor * rows * cols + 760 * vector * rows + 0.62 * buffer + 2e4 * (tensor + vector);
    if (area > cap || area < 0.05 * cap) continue;
    const compute = tensor * rows * cols;
    const shape = 1 / (1 + Math.abs(Math.log2(rows) - 6.5) / 6 + Math.abs(Math.log2(cols) - 6.5) / 6);
    const score = 900 * (1 - Math.exp(-compute / 60_000)) * shape * (1 - Math.exp(-(vector * rows) / 900)) * (0.75 + 0.25 * Math.min(buffer / 2 ** 25, 1));
    chips.push({ tensor, rows, cols, vector, buffer, area, score });
  }
  return chips;
}

function listed(key: string, label: string, unit: Column['unit'], of: number[]): Column {
  const values = [...new Set(of)].sort((a, b) => a - b);
  return { key, label, unit, role: 'parameter', values, codes: base64(Uint8Array.from(of, (value) => values.indexOf(value))) };
}

function measured(key: string, label: string, unit: Column['unit'], of: number[]): Column {
  return { key, label, unit, role: 'metric', floats: base64(Float32Array.from(of)) };
}

function planOf(pipeline: number, dataParallel: number, width: number): PlanDocument {
  const stages: StageDocument[] = Array.from({ length: pipeline }, (_, s) => ({
    layers: [s * 2, s * 2 + 1],
    chunks: [[s * 2, s * 2 + 2]],
    devices: width * dataParallel,
    forward_seconds: 0.01 + 0.001 * Math.sin(s),
    backward_seconds: 0.02,
    recompute_seconds: s < 2 ? 0.004 : 0,
    recompute: s < 2 ? 'selective' : 'none',
    memory_bytes: { parameters: 2e9, gradients: 4e9, optimizer: 6e9, activations: (pipeline - s) * 1.5e9, workspace: 5e8, total: 12.5e9 + (pipeline - s) * 1.5e9 },
    simulated_peak_memory_bytes: 12e9,
  }));
  return {
    feasible: true,
    throughput: 812.4,
    tokens_per_s: 1.66e6,
    time_per_batch: 5.04,
    simulated_time_per_batch: 5.02,
    mfu: 0.512,
    pipeline,
    tensor_parallel: width,
    data_parallel: dataParallel,
    microbatch: 1,
    microbatches: 64,
    interleave: 1,
    sequence_parallel: true,
    zero: 1,
    order: 'tensor, data, pipeline',
    devices: pipeline * dataParallel * width,
    peak_memory_bytes: 24e9,
    stages,
    breakdown: { compute: 3.6, recompute: 0.2, tensor_parallel: 0.4, bubble: 0.5, transfers: 0.04, gradient_sync: 0.25, optimizer: 0.05 },
  };
}

// 1F1B with equal stages.
function timelineOf(devices: number, microbatches: number): TimelineDocument {
  const forward = 0.01;
  const backward = 0.02;
  const rows: [number, number, number, number, number][] = [];
  const forwardEnd = Array.from({ length: devices }, () => new Float64Array(microbatches));
  const backwardEnd = Array.from({ length: devices }, () => new Float64Array(microbatches));
  const free = new Float64Array(devices);
  const queues = Array.from({ length: devices }, (_, d) => {
    const warm = Math.min(devices - d, microbatches);
    const list: [boolean, number][] = [];
    for (let m = 0; m < warm; ++m) list.push([false, m]);
    for (let m = 0; m < microbatches; ++m) {
      list.push([true, m]);
      if (m + warm < microbatches) list.push([false, m + warm]);
    }
    return list;
  });
  for (let moved = true; moved; ) {
    moved = false;
    for (let d = 0; d < devices; ++d) {
      const next = queues[d]?.[0];
      if (!next) continue;
      const [back, m] = next;
      const input = back ? (d + 1 < devices ? backwardEnd[d + 1]?.[m] : forwardEnd[d]?.[m]) : d > 0 ? forwardEnd[d - 1]?.[m] : 1e-12;
      if (!input) continue;
      const start = Math.max(free[d] ?? 0, input);
      const end = start + (back ? backward : forward);
      ((back ? backwardEnd : forwardEnd)[d] as Float64Array)[m] = end;
      free[d] = end;
      rows.push([back ? 1 : 0, d, m, start, end]);
      queues[d]?.shift();
      moved = true;
    }
  }
  return {
    seconds: Math.max(...free),
    bubble_fraction: 0.1,
    devices,
    microbatches,
    chunks: 1,
    activities: ['forward', 'backward', 'send_forward', 'send_backward', 'reduce', 'tied', 'step', 'gather'],
    left_out: null,
    messages: false,
    events: rows.length,
    activity: base64(Uint8Array.from(rows, (row) => row[0])),
    device: base64(Uint16Array.from(rows, (row) => row[1])),
    microbatch: base64(Uint16Array.from(rows, (row) => row[2])),
    chunk: base64(new Uint8Array(rows.length)),
    start: base64(Float32Array.from(rows, (row) => row[3])),
    end: base64(Float32Array.from(rows, (row) => row[4])),
  };
}

function schedulesOf(): LayerSchedule[] {
  const schedule = (layer: string, repeat: number, pass: 'forward' | 'backward', count: number): LayerSchedule => ({
    layer,
    repeat,
    pass,
    makespan: count * 1e-4,
    lower_bound: count * 1e-4,
    status: 'optimal',
    resources: { tensor: 8, vector: 2, network: 1, hbm: 1 },
    ops: Array.from({ length: count }, (_, id) => ({
      id,
      name: id % 3 === 0 ? `matmul ${id}` : `norm ${id}`,
      start: id * 1e-4,
      finish: (id + 1) * 1e-4,
      demand: id % 3 === 0 ? { tensor: 8, hbm: 0.4 } : { vector: 2, hbm: 0.9 },
    })),
  });
  return [schedule('embedding', 1, 'forward', 3), schedule('block', 32, 'forward', 17), schedule('block', 32, 'backward', 27)];
}

export function fullSpace(models = ['llama2-7b'], count = kFullSpace): ReportDocument {
  const chips = synthesise(count);
  const best = chips.reduce((winner, chip, i) => (chip.score > (chips[winner]?.score ?? 0) ? i : winner), 0);
  const winner = chips[best] as SyntheticChip;
  const random = randomNumbers(7);
  const evaluated = chips.map((chip, i) => i === best || (chip.score > 0.85 * winner.score && random() < 0.25));
  const code = (chip: SyntheticChip, i: number): number => (evaluated[i] ? 0 : chip.tensor * chip.rows * chip.cols < 600 ? 3 : chip.score > 0.5 * winner.score ? 2 : 1);
  const outcomes: Outcomes = {
    values: [
      { key: 'evaluated', label: 'evaluated', kind: 'evaluated' },
      { key: 'roofline', label: 'pruned by roofline', kind: 'pruned' },
      { key: 'operators', label: 'pruned by operators', kind: 'pruned' },
      { key: 'infeasible', label: 'infeasible', kind: 'infeasible' },
    ],
    codes: base64(Uint8Array.from(chips, code)),
  };
  const codes = chips.map(code);
  const having = (value: number): number => codes.filter((c) => c === value).length;
  const chip = {
    name: 'space',
    tensor_cores: { count: winner.tensor, rows: winner.rows, cols: winner.cols },
    vector_cores: { count: winner.vector, lanes: winner.rows },
    glb_bytes: winner.buffer,
    hbm_bytes: 64 * 2 ** 30,
    hbm_bandwidth: 1.2e12,
    clock_hz: 1.05e9,
    process_nm: 22,
    peak_flops: 2.75e14,
    area_model: 'phaze22',
    area_um2: winner.area,
    area_by_part_um2: { tensor_cores: winner.area * 0.5, vector_cores: winner.area * 0.1, global_buffer: winner.area * 0.4 },
    tdp_w: 184,
    tdp_by_part_w: { idle: 90, tensor_cores: 60, hbm: 34 },
    published: null,
  };
  return {
    format: kFormat,
    kind: 'search',
    title: models.join(', '),
    subtitle: `The best of ${count} chips, 1,024 of them, batches of 4,096`,
    phaze_version: '0.1.0',
    command: `phaze search ${models.join(' ')} --space phaze --devices 1024 --global-batch 4096 --out run.db`,
    created: '2026-01-01T00:00:00Z',
    settings: [['--devices', '1024']],
    search: {
      status: 'finished',
      score: winner.score,
      score_label: 'Throughput',
      score_unit: 'samples/s',
      objective: 'throughput',
      optimal: true,
      gap: 0,
      evaluated: having(0),
      pruned: having(1) + having(2),
      infeasible: having(3),
      open: 0,
      pruned_by: { roofline: having(1), operators: having(2) },
      seconds: 48.2,
    },
    chip,
    space: {
      chips: count,
      winner: best,
      score_label: 'Throughput',
      score_unit: 'samples/s',
      columns: [
        listed('tensor_cores', 'Tensor cores', 'count', chips.map((c) => c.tensor)),
        listed('rows', 'Array rows', 'count', chips.map((c) => c.rows)),
        listed('cols', 'Array columns', 'count', chips.map((c) => c.cols)),
        listed('vector_cores', 'Vector cores', 'count', chips.map((c) => c.vector)),
        listed('lanes', 'Lanes', 'count', chips.map((c) => c.rows)),
        listed('global_buffer_bytes', 'Global buffer', 'bytes', chips.map((c) => c.buffer)),
        measured('macs', 'Multiply-accumulate units', 'count', chips.map((c) => c.tensor * c.rows * c.cols)),
        measured('area_um2', 'Area', 'um2', chips.map((c) => c.area)),
        measured('tdp_watts', 'TDP', 'watts', chips.map((c) => 90 + c.area / 2.4e6)),
        measured('score', 'Throughput', 'samples/s', chips.map((c, i) => (evaluated[i] ? c.score : NaN))),
        measured('bound', 'Bound', 'samples/s', chips.map((c) => c.score * 1.1)),
      ],
      outcomes,
    },
    models: models.map(
      (name): ModelDocument => ({
        name,
        sequence: 2048,
        global_batch: 4096,
        parameters: 6.7e9,
        devices: 1024,
        plan: planOf(8, 64, 2),
        timeline: timelineOf(8, 64),
        layer_schedules: schedulesOf(),
        alone: null,
      }),
    ),
    comparison: {
      ...Object.fromEntries(
        models.map((model) => [model, { tpuv4_expert: 310.2, tpuv4_placement: 401.5, chip_only: 560, bayesian: null, cosearch: 812.4, common_chip: { cosearch: 790 } }]),
      ),
      summary: { reference: 'tpuv4-phaze', geometric_mean_over_tpuv4_expert: { tpuv4_placement: 1.29, chip_only: 1.8, cosearch: 2.62 } },
    },
    insight: {
      sensitivity: [
        { parameter: 'tensor_cores.count', from: '8', to: '4', score: 700, ratio: 0.86, area_um2: 2e8, allowed: true, limit: '' },
        { parameter: 'tensor_cores.count', from: '8', to: '16', score: 815, ratio: 1.07, area_um2: 4e8, allowed: false, limit: 'largest area' },
        { parameter: 'global_buffer', from: '32 MiB', to: '64 MiB', score: null, ratio: null, area_um2: 3e8, allowed: true, limit: '' },
      ],
      models: Object.fromEntries(
        models.map((model) => [
          model,
          {
            tensor_utilisation: 0.61,
            vector_utilisation: 0.22,
            layers: [
              { layer: 'block', repeat: 32, pass: 'forward', seconds: 0.0017, bound_by: 'hbm', bound_share: 0.64, busy: { tensor: 0.5, vector: 0.3, hbm: 0.9, network: 0 } },
            ],
          },
        ]),
      ),
    },
  };
}
