import { escapeHtml } from '../text/markup.ts';

/** HTML that needs no escaping. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/** Escapes all values in the template, except HTML. */
export function html(template: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: template }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escapeHtml(String(part));
}

/** A script of ours, as text: bundlers rewrite templates with a tag in which a script ends. */
export const inlineScript = (code: string): Html => new Html(`<script>${code}</script>`);

export const deferredScript = (path: string): Html => new Html(`<script src="${escapeHtml(path)}" defer></script>`);

/** Supports the only markup in declared texts: `code` between backticks. */
export function marked(text: string): Html {
  const [first = '', ...rest] = text.split(/`([^`]+)`/);
  const parts = rest.map((part, index) => (index % 2 === 0 ? html`<code>${part}</code>` : html`${part}`));
  return html`${first}${parts}`;
}
