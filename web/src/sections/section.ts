import { h } from '../dom';

export interface Section {
  id: string;
  title: string; // in the navigation
  element: HTMLElement;
}

export function section(id: string, title: string, heading: string, lead: string, ...children: (Node | null)[]): Section {
  const element = h('section', { id, 'aria-labelledby': `${id}-heading` }, h('h2', { id: `${id}-heading` }, heading));
  if (lead !== '') element.append(h('p', { class: 'lead' }, lead));
  for (const child of children) if (child) element.append(child);
  return { id, title, element };
}

export function figure(heading: string, note: string, ...children: (Node | null)[]): HTMLElement {
  const element = h('figure', {}, h('figcaption', {}, h('h3', {}, heading), note === '' ? null : h('p', { class: 'note' }, note)));
  for (const child of children) if (child) element.append(child);
  return element;
}

export function tiles(entries: { name: string; value: string; note?: string }[]): HTMLElement {
  const list = h('dl', { class: 'tiles' });
  for (const entry of entries)
    list.append(h('div', {}, h('dt', {}, entry.name), h('dd', {}, entry.value, entry.note ? h('small', {}, entry.note) : null)));
  return list;
}

export function facts(rows: [string, string][]): HTMLElement {
  const list = h('dl', { class: 'facts' });
  for (const [name, value] of rows) list.append(h('dt', {}, name), h('dd', {}, value));
  return list;
}
