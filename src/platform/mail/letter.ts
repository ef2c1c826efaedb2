import type { MailMessage, Sender } from './mail.ts';

// The colours of `site/src/tokens.css`. Many mail programs drop style sheets, so every element has its own style.
const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif";
const STYLES = {
  page: `margin:0;padding:24px 12px;background-color:#f6f7f9;color:#171b22;font-size:16px;line-height:1.5;${FONT}`,
  brand: 'max-width:560px;margin:0 auto;padding:0 4px 12px;color:#525c6b;font-size:15px;font-weight:700',
  card: 'max-width:560px;margin:0 auto;padding:24px;background-color:#ffffff;border:1px solid #d9dde4;border-radius:8px',
  heading: 'margin:0 0 16px;font-size:20px;line-height:1.3',
  paragraph: 'margin:0 0 16px;overflow-wrap:anywhere',
  link: 'word-break:break-all',
  code: 'font-family:ui-monospace,Menlo,Consolas,monospace;font-size:22px;letter-spacing:2px;white-space:nowrap',
} as const;

/** For programs that follow the reader’s colours. */
const darkOf = (
  accent: string,
) => `@media (prefers-color-scheme:dark){.page{background-color:#11141a!important;color:#e9ecf1!important}\
.card{background-color:#191d25!important;border-color:#2d3441!important}.brand{color:#a2acbb!important}a{color:${accent}!important}}`;

/** The characters of codes that mails bring (`codes.ts`). */
const CODE = /\b[A-HJ-NP-Z2-9]{5,8}\b/;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);

type Letter = Pick<MailMessage, 'subject' | 'text' | 'html' | 'sender'>;

const ACCENTS: Sender['accents'] = { light: '#1f5fbf', dark: '#7fb2ff' };

/** The mail in the look of the site, made from its plain text, which mail programs get beside it. */
export function letterOf({ subject, text, html, sender }: Letter, from: string): string {
  const { light, dark } = sender?.accents ?? ACCENTS;
  return `<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title><style>${darkOf(dark)}</style></head>
<body class="page" style="${STYLES.page}">
<div class="brand" style="${STYLES.brand}">${escapeHtml(from)}</div>
<div class="card" style="${STYLES.card}">
<h1 style="${STYLES.heading}">${escapeHtml(subject)}</h1>
${html ?? paragraphsOf(text, CODE.exec(subject)?.[0], light)}
</div>
</body></html>
`;
}

const paragraphsOf = (text: string, code: string | undefined, accent: string): string =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => `<p style="${STYLES.paragraph}">${markupOf(paragraph, code, accent)}</p>`)
    .join('\n');

/** Addresses become links, and the code is large enough to read from across a room. */
const markupOf = (paragraph: string, code: string | undefined, accent: string): string =>
  paragraph
    .split(/(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)”])/)
    .map((part, index) => {
      const written = escapeHtml(part);
      if (index % 2 === 1) return `<a style="color:${accent};${STYLES.link}" href="${written}">${written}</a>`;
      const marked = code ? written.replace(code, `<strong style="${STYLES.code}">${code}</strong>`) : written;
      return marked.replaceAll('\n', '<br>\n');
    })
    .join('');

/** The name in a sender: `Modstead <mods@example.org>` is “Modstead”. */
export const nameIn = (from: string): string | undefined => /^\s*"?([^"<]*[^"<\s])"?\s*</.exec(from)?.[1];

/** Who a mail is from, as its reader knows them: the name in the setting, that of the site, or the domain. */
export const senderOf = (from: string, sender?: Sender): string =>
  nameIn(from) ?? sender?.name ?? from.slice(from.indexOf('@') + 1).replace(/>\s*$/, '');
