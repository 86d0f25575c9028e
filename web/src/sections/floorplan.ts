// The chip's area by part, drawn as a die: every block has the area of its part, and cores are drawn one by one as long
// as they can be seen. Where a part lies on a real die is for a designer to say; only sizes mean something.
import { h, svg, table, unique } from '../dom';
import { grouped, percent, sentence, withUnit, words } from '../format';
import type { ChipDocument } from '../schema';
import { onTheme, palette } from '../theme';
import { figure, section, type Section } from './section';
import { treemap, type Rect } from './treemap';

const kMostCells = 1200;
const kSide = 420;

function cells(count: number, block: Rect): { across: number; down: number } | null {
  if (count < 2 || count > kMostCells) return null;
  let best = { across: count, down: 1 };
  let squareness = Infinity;
  for (let across = 1; across <= count; ++across) {
    const down = Math.ceil(count / across);
    const ratio = block.width / across / (block.height / down);
    const waste = (across * down) / count;
    const badness = Math.max(ratio, 1 / ratio) * waste ** 3;
    if (badness < squareness) {
      squareness = badness;
      best = { across, down };
    }
  }
  return block.width / best.across < 5 || block.height / best.down < 5 ? null : best;
}

const kColour: Record<string, number> = { tensor_cores: 0, vector_cores: 1, global_buffer: 2, hbm: 3, wiring: 6, links: 4 };

export function floorPlan(chip: ChipDocument): Section {
  const parts = Object.entries(chip.area_by_part_um2).filter(([, area]) => area > 0);
  const whole = parts.reduce((sum, [, area]) => sum + area, 0);
  const counts: Record<string, number> = { tensor_cores: chip.tensor_cores.count, vector_cores: chip.vector_cores.count };
  const description = parts.map(([key, area]) => `${words(key)} ${withUnit(area, 'um2')}`).join(', ');
  const frame = svg('svg', { viewBox: `-2 -2 ${kSide + 4} ${kSide + 4}`, class: 'die', role: 'img', 'aria-label': `Area by part: ${description}` });
  const draw = (): void => {
    frame.replaceChildren();
    const colours = palette();
    const blocks = treemap(
      parts.map(([, area]) => area),
      { x: 0, y: 0, width: kSide, height: kSide },
    );
    parts.forEach(([key, area], i) => {
      const block = blocks[i] as Rect;
      const colour = colours.categories[kColour[key] ?? 6] ?? '';
      const title = svg('title', {}, `${sentence(words(key))}: ${withUnit(area, 'um2')}, ${percent(area / whole)}`);
      const inner = { x: block.x + 1.5, y: block.y + 1.5, width: Math.max(block.width - 3, 0.5), height: Math.max(block.height - 3, 0.5) };
      const group = svg('g', { 'data-part': key }, title);
      const grid = cells(counts[key] ?? 1, inner);
      group.append(svg('rect', { ...inner, rx: 3, fill: colour, 'fill-opacity': grid ? 0.25 : 0.85 }));
      if (grid) {
        const id = unique('cell');
        const width = inner.width / grid.across;
        const height = inner.height / grid.down;
        const gap = Math.min(width, height) * 0.07;
        group.append(svg('g', { id, fill: colour, 'fill-opacity': 0.85 }));
        const target = group.lastElementChild as SVGGElement;
        for (let cell = 0; cell < (counts[key] ?? 1); ++cell)
          target.append(
            svg('rect', {
              x: inner.x + (cell % grid.across) * width + gap,
              y: inner.y + Math.floor(cell / grid.across) * height + gap,
              width: width - 2 * gap,
              height: height - 2 * gap,
              rx: Math.min(2, width / 8),
            }),
          );
      }
      const name = sentence(words(key));
      if (inner.width > name.length * 8.5 && inner.height > 30) {
        const middle = { x: inner.x + inner.width / 2, y: inner.y + inner.height / 2 };
        group.append(
          svg('rect', { x: middle.x - name.length * 4.1 - 8, y: middle.y - 15, width: name.length * 8.2 + 16, height: 30, rx: 15, fill: colours.card, 'fill-opacity': 0.92 }),
          svg('text', { x: middle.x, y: middle.y + 5, 'text-anchor': 'middle', fill: colours.ink, class: 'die-label' }, name),
        );
      }
      frame.append(group);
    });
  };
  draw();
  onTheme(draw);
  const rows = parts.map(([key, area]) => {
    const count = counts[key];
    return [sentence(words(key)), withUnit(area, 'um2'), percent(area / whole), count ? `${grouped(count)} × ${withUnit(area / count, 'um2')}` : ''];
  });
  rows.push(['Whole die', withUnit(whole, 'um2'), percent(1), '']);
  const power = Object.entries(chip.tdp_by_part_w).filter(([, watts]) => watts > 0);
  const powerRows = power.map(([key, watts]) => [sentence(words(key)), withUnit(watts, 'watts'), percent(watts / chip.tdp_w)]);
  powerRows.push(['Thermal design power', withUnit(chip.tdp_w, 'watts'), percent(1)]);
  return section(
    'floor-plan',
    'Floor plan',
    'Where the silicon goes',
    `By the ${chip.area_model} area model. Sizes are to scale; positions are not a layout.`,
    h(
      'div',
      { class: 'two' },
      figure('The die by area', '', frame),
      h(
        'div',
        {},
        figure('Area', '', table('Area by part', [{ label: 'Part' }, { label: 'Area', numeric: true }, { label: 'Share', numeric: true }, { label: 'Each', numeric: true }], rows)),
        power.length > 0
          ? figure('Power', '', table('Thermal design power by part', [{ label: 'Part' }, { label: 'Power', numeric: true }, { label: 'Share', numeric: true }], powerRows))
          : null,
      ),
    ),
  );
}
