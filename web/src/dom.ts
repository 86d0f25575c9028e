// Elements without HTML strings: whatever text comes from a file becomes a text node, never markup.

type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);

function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
}

function assign(element: Element, properties: Record<string, Value>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  assign(element, properties);
  append(element, children);
  return element;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  properties: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  assign(element, properties);
  append(element, children);
  return element;
}

let serial = 0;
export function unique(prefix: string): string {
  serial += 1;
  return `${prefix}-${serial}`;
}

export interface Choice {
  value: string;
  label: string;
}

// A labelled drop-down list.
export function select(label: string, choices: Choice[], chosen: string, changed: (value: string) => void): HTMLElement {
  const id = unique('select');
  const list = h('select', { id, change: () => changed(list.value) });
  for (const choice of choices) list.append(h('option', { value: choice.value, selected: choice.value === chosen }, choice.label));
  return h('div', { class: 'field' }, h('label', { for: id }, label), list);
}

export function checkbox(label: string, checked: boolean, changed: (on: boolean) => void): HTMLElement {
  const box = h('input', { type: 'checkbox', checked, change: () => changed(box.checked) });
  return h('label', { class: 'check' }, box, label);
}

// Buttons of which one is pressed.
export function segments(label: string, choices: Choice[], chosen: string, changed: (value: string) => void): HTMLElement {
  const group = h('div', { class: 'segments', role: 'group', 'aria-label': label });
  for (const choice of choices) {
    const button = h('button', { type: 'button', 'aria-pressed': String(choice.value === chosen), 'data-value': choice.value }, choice.label);
    button.addEventListener('click', () => {
      for (const other of group.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button));
      changed(choice.value);
    });
    group.append(button);
  }
  return group;
}

export interface TableColumn {
  label: string;
  numeric?: boolean;
}

// The first cell of a row names it.
export function table(caption: string, columns: TableColumn[], rows: Child[][]): HTMLElement {
  const head = h('tr');
  for (const column of columns) head.append(h('th', { scope: 'col', class: column.numeric ? 'number' : null }, column.label));
  const body = h('tbody');
  for (const row of rows) {
    const line = h('tr');
    row.forEach((cell, i) => {
      const type = columns[i]?.numeric ? 'number' : null;
      line.append(i === 0 ? h('th', { scope: 'row', class: type }, cell) : h('td', { class: type }, cell));
    });
    body.append(line);
  }
  return h(
    'div',
    { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', {}, h('caption', { class: 'unseen' }, caption), h('thead', {}, head), body),
  );
}
