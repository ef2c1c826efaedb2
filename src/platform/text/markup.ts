/** The tags that users may write, and their attributes. Other tags are dropped; their text stays. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'title'],
  img: ['src', 'alt', 'title', 'width', 'height'],
};
const PLAIN =
  'b strong i em u s strike small sub sup p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code span div table thead tbody tr th td';
const ALLOWED = new Set([...PLAIN.split(' '), ...Object.keys(ATTRIBUTES)]);
const VOID = new Set(['br', 'hr', 'img']);
/** The content of these tags is dropped as well, because it is not text for readers. */
const WITH_CONTENT = new Set([
  'script',
  'style',
  'iframe',
  'object',
  'noscript',
  'template',
  'title',
  'textarea',
  'svg',
]);
const BLOCKS = new Set(['p', 'br', 'hr', 'div', 'li', 'tr', 'blockquote', 'pre', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>|<[!?/][^<>]*>/g;
const ATTRIBUTE = /([a-zA-Z-]{1,20})\s{0,5}=\s{0,5}(?:"([^"]*)"|'([^']*)'|([^\s"'=`]+))/g;
/** The address must literally begin with a harmless scheme, so that no encoding with entities gets past it. */
const ADDRESS = /^(?:https?:\/\/|mailto:)[^\s"'<>`\\]{1,500}$/i;
const NUMBER = /^\d{1,4}$/;
/** Both limits keep the work proportional to the length of the text. */
const TAG_LENGTH_MAX = 1_000;
const DEPTH_MAX = 50;

/** The text with allowed markup only, rebuilt and closed; every other `<` and `>` is escaped. */
export function sanitised(text: string): string {
  const open: string[] = [];
  const out = walk(text, escaped, (closing, name, attributes) => {
    if (!ALLOWED.has(name)) return '';
    if (closing) return closed(open, name);
    if (VOID.has(name))
      return name === 'img' && !/ src=/.test(kept(name, attributes)) ? '' : `<${name}${kept(name, attributes)}>`;
    if (open.length >= DEPTH_MAX) return '';
    open.push(name);
    return `<${name}${kept(name, attributes)}>`;
  });
  return (
    out +
    open
      .reverse()
      .map((name) => `</${name}>`)
      .join('')
  );
}

/** The visible text, without markup. */
export function plainText(markup: string): string {
  const text = walk(
    markup,
    (piece) => piece,
    (_, name) => (BLOCKS.has(name) ? '\n' : ''),
  );
  return text
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => ENTITIES[entity]!)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

type OnTag = (closing: boolean, name: string, attributes: string) => string;

/** Visits text and tags once. */
function walk(text: string, onText: (piece: string) => string, onTag: OnTag): string {
  const folded = text.toLowerCase();
  const unclosed = new Set<string>();
  let out = '';
  let at = 0;
  TAG.lastIndex = 0;
  for (let match = TAG.exec(text); match; match = TAG.exec(text)) {
    const name = match[2]?.toLowerCase();
    const end = TAG.lastIndex;
    out += onText(text.slice(at, match.index));
    at = end;
    if (name === undefined) continue;
    if (WITH_CONTENT.has(name) && !match[1] && !unclosed.has(name)) {
      const close = folded.length === text.length ? folded.indexOf(`</${name}`, end) : -1;
      if (close === -1) unclosed.add(name);
      else at = close;
      TAG.lastIndex = at;
    } else out += onTag(match[1] === '/', name, match[3]!);
  }
  return out + onText(text.slice(at));
}

/** Also closes the tags that were opened inside, so that tags do not overlap. */
function closed(open: string[], name: string): string {
  const from = open.lastIndexOf(name);
  return from === -1
    ? ''
    : open
        .splice(from)
        .reverse()
        .map((each) => `</${each}>`)
        .join('');
}

function kept(name: string, attributes: string): string {
  const allowed = ATTRIBUTES[name];
  if (!allowed || attributes.length > TAG_LENGTH_MAX) return '';
  const values = new Map<string, string>();
  for (const [, written, double, single, bare] of attributes.matchAll(ATTRIBUTE)) {
    const attribute = written!.toLowerCase();
    const value = (double ?? single ?? bare ?? '').trim();
    if (allowed.includes(attribute) && !values.has(attribute) && isHarmless(attribute, value))
      values.set(attribute, value);
  }
  if (name === 'a' && values.has('href')) values.set('rel', 'nofollow noopener noreferrer');
  return [...values]
    .map(([attribute, value]) => ` ${attribute}="${escaped(value).replaceAll('"', '&quot;')}"`)
    .join('');
}

function isHarmless(attribute: string, value: string): boolean {
  if (attribute === 'href' || attribute === 'src') return ADDRESS.test(value);
  return attribute === 'width' || attribute === 'height' ? NUMBER.test(value) : true;
}

const escaped = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const SPECIAL: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML, including attribute values. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => SPECIAL[character]!);
