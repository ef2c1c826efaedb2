import { error } from '@sveltejs/kit';

export interface Feed {
  readonly title: string;
  /** The name of the site, after the title. */
  readonly site: string;
  /** The page of the same content. */
  readonly page: string;
  /** The address of the feed itself. */
  readonly self: string;
  readonly language: string;
  readonly entries: readonly Entry[];
}

export interface Entry {
  /** Never changes, and is unique in the world. */
  readonly id: string;
  readonly page: string;
  readonly title: string;
  /** Plain text. */
  readonly text: string;
  readonly author: { readonly name: string; readonly page: string };
  /** Seconds since 1970. */
  readonly added: number;
  readonly updated: number;
  readonly picture?: string | null | undefined;
}

const WRITERS = { atom: atomOf, json: jsonOf } as const;
const TYPES = { atom: 'application/atom+xml', json: 'application/feed+json' } as const;

/** Answers with the format that ends the address: `feed.atom` (RFC 4287) or `feed.json` (JSON Feed 1.1). */
export function feedResponse(format: string, feed: Feed): Response {
  if (format !== 'atom' && format !== 'json') error(404, { message: '' });
  return new Response(WRITERS[format](feed), {
    headers: {
      'content-type': `${TYPES[format]}; charset=utf-8`,
      'cache-control': 'private, max-age=300',
      'access-control-allow-origin': '*',
    },
  });
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Characters that XML 1.0 cannot contain are left out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
export const xml = (text: string): string =>
  text
    .toWellFormed()
    .replace(FORBIDDEN, '')
    .replace(/[&<>"']/g, (character) => ESCAPES[character]!);

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString();
const newest = (entries: readonly Entry[]) => Math.max(0, ...entries.map(({ updated }) => updated));

function atomOf({ title, site, page, self, language, entries }: Feed): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${xml(language)}">
<title>${xml(`${title} · ${site}`)}</title>
<id>${xml(page)}</id>
<link rel="alternate" type="text/html" href="${xml(page)}"/>
<link rel="self" type="application/atom+xml" href="${xml(self)}"/>
<updated>${dateOf(newest(entries))}</updated>
<generator>Modstead</generator>
${entries.map(atomEntry).join('')}</feed>
`;
}

const atomEntry = ({ id, page, title, text, author, added, updated, picture }: Entry) => `<entry>
<id>${xml(id)}</id>
<title>${xml(title)}</title>
<link rel="alternate" type="text/html" href="${xml(page)}"/>
${picture ? `<link rel="enclosure" type="image/*" href="${xml(picture)}"/>\n` : ''}<author><name>${xml(author.name)}</name><uri>${xml(author.page)}</uri></author>
<published>${dateOf(added)}</published>
<updated>${dateOf(updated)}</updated>
<summary>${xml(text)}</summary>
</entry>
`;

function jsonOf({ title, site, page, self, language, entries }: Feed): string {
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: `${title} · ${site}`,
    home_page_url: page,
    feed_url: self,
    language,
    items: entries.map(({ id, page: url, title, text, author, added, updated, picture }) => ({
      id,
      url,
      title,
      content_text: text,
      authors: [{ name: author.name, url: author.page }],
      date_published: dateOf(added),
      date_modified: dateOf(updated),
      ...(picture && { image: picture }),
    })),
  });
}

interface ListedMod {
  readonly id: number;
  readonly name: string;
  readonly summary: string;
  readonly profile_url: string;
  readonly date_live: number;
  readonly date_updated: number;
  readonly submitted_by: { readonly username: string; readonly profile_url: string };
  readonly logo: { readonly thumb_640x360: string | null };
}

/** A mod as it changes. Its address may change with its name, so its number names it. */
export const modEntry = (origin: string, mod: ListedMod): Entry => ({
  id: `${origin}/search/mods/${mod.id}`,
  page: mod.profile_url,
  title: mod.name,
  text: mod.summary,
  author: { name: mod.submitted_by.username, page: mod.submitted_by.profile_url },
  added: mod.date_live,
  updated: mod.date_updated,
  picture: mod.logo.thumb_640x360,
});
