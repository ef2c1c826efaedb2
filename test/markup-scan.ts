export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** The text of elements that contain no others, such as scripts. */
  readonly text: string;
}

const RAW = new Set(['script', 'style', 'textarea', 'title', 'noscript', 'iframe', 'xmp', 'noembed', 'noframes']);
const ATTRIBUTE = /\s*([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?|\s*\/(?!>)/y;

/** The elements as a browser reads them, hostile ones included. */
export function elementsOf(html: string): Element[] {
  const found: Element[] = [];
  let at = 0;
  for (;;) {
    at = html.indexOf('<', at);
    if (at === -1) return found;
    if (html.startsWith('<!--', at)) at = endOf(html, /--!?>|^<!--?>/g, at);
    else if (/^<[!?/]/.test(html.slice(at, at + 2))) at = endOf(html, />/g, at);
    else if (/^<[a-z]/i.test(html.slice(at, at + 2))) at = readElement(html, at, found);
    else at += 1;
  }
}

function endOf(html: string, end: RegExp, at: number): number {
  if (/^<!--?>/.test(html.slice(at, at + 5))) return html.indexOf('>', at) + 1;
  end.lastIndex = at + 1;
  return end.exec(html) ? end.lastIndex : html.length;
}

function readElement(html: string, start: number, found: Element[]): number {
  const name = /^[^\s/>]+/.exec(html.slice(start + 1))![0].toLowerCase();
  const attributes = new Map<string, string>();
  ATTRIBUTE.lastIndex = start + 1 + name.length;
  let at = ATTRIBUTE.lastIndex;
  for (let match = ATTRIBUTE.exec(html); match; match = ATTRIBUTE.exec(html)) {
    if (match[1]) attributes.set(match[1].toLowerCase(), decoded(match[2] ?? match[3] ?? match[4] ?? ''));
    at = ATTRIBUTE.lastIndex;
  }
  at = html.indexOf('>', at) + 1 || html.length;
  if (!RAW.has(name)) {
    found.push({ name, attributes, text: '' });
    return at;
  }
  const rest = new RegExp(`</${name}[\\s/>]`, 'gi');
  rest.lastIndex = at;
  const end = rest.exec(html)?.index ?? html.length;
  found.push({ name, attributes, text: html.slice(at, end) });
  return end;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', apos: "'", colon: ':' };

/** Character references as in attributes and texts. */
export const decoded = (text: string): string =>
  text.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|([a-z]+));?/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name) return NAMED[name] ?? whole;
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal));
  });

const ADDRESSES = new Set([
  'href',
  'src',
  'action',
  'formaction',
  'data',
  'poster',
  'xlink:href',
  'ping',
  'background',
]);
const NEVER = new Set([
  'object',
  'embed',
  'applet',
  'base',
  'frame',
  'frameset',
  'math',
  'animate',
  'set',
  'use',
  'portal',
]);

/** Why the element could run what somebody wrote; nothing if it cannot. */
export function dangersOf({ name, attributes }: Element): string[] {
  const dangers = NEVER.has(name) ? [`<${name}>`] : [];
  if (attributes.has('srcdoc')) dangers.push(`<${name} srcdoc>`);
  if (name === 'meta' && /refresh/i.test(attributes.get('http-equiv') ?? '')) dangers.push('<meta refresh>');
  for (const [attribute, value] of attributes) {
    if (attribute.startsWith('on')) dangers.push(`<${name} ${attribute}>`);
    // Browsers skip control characters and spaces in a scheme.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about.
    const scheme = /^([a-z][a-z\d+.-]*):/i.exec(value.replaceAll(/[\u0000-\u0020]/g, ''))?.[1]?.toLowerCase();
    if (ADDRESSES.has(attribute) && scheme !== undefined && !['http', 'https', 'mailto'].includes(scheme))
      dangers.push(`<${name} ${attribute}="${value.slice(0, 60)}">`);
  }
  return dangers;
}
