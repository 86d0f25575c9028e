// One bar cut into parts, with a legend that gives the numbers: shares of a whole.
import { h } from '../dom';
import { percent } from '../format';
import { onTheme } from '../theme';

export interface Part {
  label: string;
  value: number;
  text: string; // the value with its unit
  colour: () => string;
}

export function stackedBar(label: string, parts: Part[]): HTMLElement {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const shown = parts.filter((part) => part.value > 0);
  const bar = h('div', { class: 'stack', role: 'img', 'aria-label': `${label}: ${shown.map((part) => `${part.label} ${part.text}`).join(', ')}` });
  const legend = h('ul', { class: 'stack-legend' });
  const painted: [HTMLElement, Part][] = [];
  for (const part of shown) {
    const piece = h('span', { title: `${part.label}: ${part.text}` });
    piece.style.flexGrow = String(part.value / total);
    const swatch = h('i', { class: 'swatch' });
    painted.push([piece, part], [swatch, part]);
    bar.append(piece);
    legend.append(
      h('li', {}, swatch, h('span', { class: 'name' }, part.label), h('b', {}, part.text), h('span', { class: 'share' }, percent(part.value / total))),
    );
  }
  const paint = (): void => {
    for (const [element, part] of painted) element.style.backgroundColor = part.colour();
  };
  paint();
  onTheme(paint);
  return h('div', { class: 'stacked' }, bar, legend);
}
