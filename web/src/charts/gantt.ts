// When each operator of a layer runs: a row per operator, by start.
import { h } from '../dom';
import { grouped, percent, plural, seconds, sentence, significant, words } from '../format';
import type { LayerSchedule, ScheduledOp } from '../schema';
import { onTheme, palette } from '../theme';
import { facts } from '../sections/section';

const kKinds = [
  { key: 'both', label: 'tensor and vector cores', colour: 3 },
  { key: 'tensor', label: 'tensor cores', colour: 0 },
  { key: 'vector', label: 'vector cores', colour: 1 },
  { key: 'network', label: 'network', colour: 2 },
  { key: 'memory', label: 'memory alone', colour: 6 },
] as const;

function kindOf(op: ScheduledOp): (typeof kKinds)[number] {
  const holds = (part: string): boolean => Object.keys(op.demand).some((name) => name.includes(part) && (op.demand[name] ?? 0) > 0);
  const tensor = holds('tensor');
  const vector = holds('vector');
  const index = tensor && vector ? 0 : tensor ? 1 : vector ? 2 : holds('network') ? 3 : 4;
  return kKinds[index] as (typeof kKinds)[number];
}

function demandText(op: ScheduledOp, resources: Record<string, number>): string {
  return Object.entries(op.demand)
    .map(([name, amount]) => {
      const capacity = resources[name] ?? 1;
      if (name !== 'tensor' && name !== 'vector') return `${percent(amount / capacity, 0)} of the ${words(name)}`;
      return amount >= capacity ? `all ${name} cores` : `${grouped(amount)} of ${grouped(capacity)} ${name} cores`;
    })
    .join(', ');
}

function verdict(schedule: LayerSchedule): string {
  if (schedule.status === 'serial') return 'operators run one after another on this chip';
  if (schedule.status === 'optimal') return 'proven the shortest schedule';
  return `at most ${significant(100 * (schedule.makespan / schedule.lower_bound - 1), 2)} % above the shortest`;
}

export function gantt(schedule: LayerSchedule): HTMLElement {
  const ops = schedule.ops.filter((op) => op.finish > op.start).sort((a, b) => a.start - b.start || a.finish - b.finish);
  const hidden = schedule.ops.length - ops.length;
  const painted: [HTMLElement, number][] = [];
  const rows = h('ol', { class: 'gantt' });
  for (const op of ops) {
    const bar = h('span', { class: 'bar' });
    bar.style.left = `${(100 * op.start) / schedule.makespan}%`;
    bar.style.width = `${Math.max((100 * (op.finish - op.start)) / schedule.makespan, 0.15)}%`;
    painted.push([bar, kindOf(op).colour]);
    const demand = demandText(op, schedule.resources);
    const text = `${seconds(op.finish - op.start)} from ${seconds(op.start)}${demand === '' ? '' : `; holds ${demand}`}`;
    rows.append(
      h('li', { title: `${op.name}: ${text}` }, h('span', { class: 'name' }, op.name), h('span', { class: 'track', 'aria-label': text, role: 'img' }, bar), h('span', { class: 'took' }, seconds(op.finish - op.start))),
    );
  }
  const legend = h('ul', { class: 'legend' });
  for (const kind of kKinds) {
    if (!ops.some((op) => kindOf(op) === kind)) continue;
    const swatch = h('i', { class: 'swatch' });
    painted.push([swatch, kind.colour]);
    legend.append(h('li', {}, swatch, kind.label));
  }
  const paint = (): void => {
    for (const [element, colour] of painted) element.style.backgroundColor = palette().categories[colour] ?? '';
  };
  paint();
  onTheme(paint);
  const busy: [string, string][] = Object.entries(schedule.resources).map(([name, capacity]) => {
    const used = ops.reduce((sum, op) => sum + (op.demand[name] ?? 0) * (op.finish - op.start), 0);
    return [`${sentence(words(name))}${name === 'tensor' || name === 'vector' ? ' cores' : ''} in use`, percent(used / (capacity * schedule.makespan))];
  });
  return h(
    'div',
    { class: 'gantt-frame' },
    h(
      'p',
      { class: 'note' },
      `${seconds(schedule.makespan)} for ${plural(ops.length, 'operator')}, ${verdict(schedule)}.${hidden > 0 ? ` ${plural(hidden, 'view or reshape', 'views and reshapes')} take no time and are not shown.` : ''}`,
    ),
    rows,
    legend,
    busy.length > 0 ? facts(busy) : null,
  );
}
