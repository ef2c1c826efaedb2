import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import sharp from 'sharp';
import { type Api, type Client, encodeForm, type Game, type Mod, type User } from './api.ts';
import { zipOf } from './zips.ts';

/** Each calls `taken()` if it runs, from every context that a page writes users’ texts into. */
export const ATTACKS = [
  '<img src=x onerror="taken()">',
  '<script>taken()</script>',
  '</script><script>taken()</script>',
  '</title></textarea></style><script>taken()</script>',
  '"><svg onload="taken()">',
  "' onfocus='taken()' autofocus='",
  '<a href="javascript:taken()">x</a> <a href="java&#10;script:taken()">y</a>',
  '<form action="javascript:taken()"><button formaction="javascript:taken()">z</button></form>',
  '<iframe srcdoc="<script>parent.taken()</script>"></iframe><object data="javascript:taken()"></object>',
  '<math><mtext><table><mglyph><style><img src=x onerror="taken()">',
  '<svg><use href="data:image/svg+xml,<svg id=x onload=taken()>#x"/><animate onbegin="taken()"/></svg>',
  '<style>@import "javascript:taken()"</style><p style="background:url(javascript:taken())">q</p>',
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=javascript:taken()">',
  '{{constructor.constructor("taken()")()}} {@html taken()}',
  '<!--><img src=x onerror="taken()">--> <![CDATA[<img src=x onerror="taken()">]]>',
  '[m](javascript:taken()) ![n](x" onerror="taken()) @[<img src=x onerror=taken()>]',
];
const ALL = ATTACKS.join(' ');
const SHORT = '"><img src=x onerror=taken()>';

export interface Hostile {
  readonly game: Game;
  /** Wrote everything, leads the game’s team and the site’s staff. */
  readonly author: User;
  readonly email: string;
  /** The addresses of all pages by the folder of their route. */
  readonly pages: ReadonlyMap<string, readonly string[]>;
  /** Ends of the texts that some page must show, by the field. */
  readonly fields: ReadonlySet<string>;
  /** Addresses of uploaded files. */
  readonly uploads: readonly string[];
}

/** A game in which every text that somebody can write attacks the page that shows it. */
export async function hostileContent(api: Api): Promise<Hostile> {
  const fields = new Set<string>();
  const name = (field: string) => {
    fields.add(`[${field}]`);
    return `${SHORT}[${field}]`;
  };
  const text = (field: string) => {
    fields.add(`[${field}]`);
    return `[${field}] ${ALL}`;
  };
  const summary = (field: string) => {
    fields.add(`[${field}]`);
    return `[${field}] ${ATTACKS.slice(0, 6).join(' ')}`.slice(0, 240);
  };

  const email = 'author@example.org';
  const author = await api.aUser({ username: name('user').slice(0, 40), email, admin: true });
  const other = await api.aUser({ username: name('other').slice(0, 40) });
  const game = await api.aGame({ owner: author, name: name('game'), summary: summary('game-sum') });
  const mod = await api.aMod({ game, owner: author, name: name('mod'), summary: summary('mod-sum') });
  const needed = await api.aMod({ game, owner: other, name: name('needed') });
  const client = await api.as(author);
  const asOther = await api.as(other);
  const inGame = `/games/${game.id}`;
  const inMod = `${inGame}/mods/${mod.id}`;

  await put(client, inGame, { ugc_name: '"><script>taken()', instructions: text('instructions'), token_name: '"><b>' });
  await post(client, `${inGame}/tags`, { name: name('group'), type: 'checkboxes', tags: [name('tag')] });
  await post(client, inMod, {
    description: text('mod-desc'),
    homepage_url: `https://example.org/"><img src=x onerror=taken()>`,
    metadata_blob: name('blob'),
    tags: [`${SHORT}[tag]`],
  });
  await refused(client, inMod, { homepage_url: 'javascript:taken()' });
  await post(client, `${inMod}/metadatakvp`, { metadata: [`key:${name('kvp')}`] });
  await api.aFile(mod, {
    filename: `${name('file')}.zip`,
    archive: zipOf({ "on'error=taken().html": '<script>taken()</script>', 'x.svg': '<svg onload="taken()"/>' }),
    version: name('version').slice(0, 50),
    changelog: text('changelog'),
    metadata_blob: name('file-blob'),
  });
  const file = await api.aFile(needed);
  await post(client, `${inMod}/dependencies`, { dependencies: [needed.id] });
  const uploads = [await upload(client, `${inMod}/media`)];
  const team = await client.send('GET', `${inMod}/team`);
  const { id: memberId } = (team.body as { data: { id: number }[] }).data[0]!;
  await put(client, `${inMod}/team/${memberId}`, { position: name('position') });
  await post(client, inMod, { name: name('mod-de'), description: text('desc-de') }, { 'content-language': 'de' });

  const guide = await api.aGuide({
    game,
    owner: author,
    name: name('guide'),
    summary: summary('guide-sum'),
    description: text('guide-desc'),
  });
  const collection = await post<{ id: number; name_id: string }>(client, `${inGame}/collections`, {
    name: name('collection').slice(0, 50),
    summary: summary('coll-sum'),
    description: text('coll-desc'),
    mod_ids: [mod.id, needed.id],
  });
  const commented = { mods: mod.id, guides: guide.id, collections: collection.id };
  for (const [kind, id] of Object.entries(commented))
    await post(asOther, `${inGame}/${kind}/${id}/comments`, { content: text(`comment-${kind}`) });
  const thread = await post<{ id: number }>(asOther, '/me/messages/threads', {
    subject: name('subject'),
    content: text('message'),
    user_ids: [author.id],
  });
  await post(asOther, '/report', {
    resource: 'mods',
    id: mod.id,
    type: 0,
    summary: text('report'),
    name: name('reporter'),
  });
  const webhook = await post<{ id: number }>(client, `${inGame}/webhooks`, {
    name: name('webhook'),
    url: `https://hook.example/?"><img src=x onerror=taken()>`,
  });
  const rule = await post<{ id: number }>(client, `${inGame}/rules`, {
    name: name('rule'),
    operations: ['add-mod'],
    when: JSON.stringify({ field: 'payload.summary', is: 'contains', value: `${SHORT}never` }),
    verdict: 'deny',
    message: name('rule-msg'),
  });
  await put(client, `${inGame}/restrictions/${other.id}`, { options: 1, reason: name('restriction') });
  await put(client, `${inGame}/wordlists`, { denied: [`${SHORT}word`.toLowerCase()] });
  await post(client, '/me/tokens', { name: name('token'), scopes: ['read'] });
  await post(client, `${inGame}/monetization/token-packs`, {
    name: name('pack'),
    description: summary('pack-desc'),
    tokens: 100,
    price: 1000,
  });
  await post(client, `${inGame}/moderation/decisions`, {
    resource: 'mods',
    id: needed.id,
    decision: 'deny',
    reason: text('reason'),
  });
  await post(asOther, `${inGame}/moderation/mods/${needed.id}/appeal`, { reason: text('appeal') });
  await api.counted();

  const pages = pagesOf({
    game,
    mod,
    needed,
    author,
    guide: guide.name_id,
    collection: collection.name_id,
    thread: thread.id,
    webhook: webhook.id,
    rule: rule.id,
    file: file.id,
  });
  return { game, author, email, pages, fields, uploads };
}

interface Places {
  readonly game: Game;
  readonly mod: Mod;
  readonly needed: Mod;
  readonly author: User;
  readonly guide: string;
  readonly collection: string;
  readonly thread: number;
  readonly webhook: number;
  readonly rule: number;
  readonly file: number;
}

const ROUTES = new URL('../site/src/routes/', import.meta.url);

/** Every route of the site, so that a new page is attacked as well. */
function pagesOf(places: Places): Map<string, string[]> {
  const routes = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('+page.svelte'))
    .map((path) => path.replace(/\/?\+page\.svelte$/, ''));
  return new Map(routes.sort().map((route) => [route, addressesOf(route, places)]));
}

function addressesOf(route: string, places: Places): string[] {
  const { game, mod, needed, author, ...rest } = places;
  const isDashboard = route.includes('/admin/');
  const values: Record<string, string | number> = {
    ...rest,
    game: game.name_id,
    mod: isDashboard ? needed.id : mod.name_id,
    user: route.startsWith('admin/') ? author.id : author.name_id,
    content: 'mods',
    id: needed.id,
    type: 1,
    page: 'terms',
  };
  const path = `/${route.replaceAll(/\(\w+\)\/?/g, '')}`.replaceAll(/\[(\w+)\]/g, (_: string, name: string) =>
    encodeURIComponent(values[name] ?? assert.fail(`no value for [${name}] in ${route}`)),
  );
  const queries = QUERIES[route] ?? [];
  const first = route === '(browse)/report' ? [] : [path];
  return [...first, ...queries.map((query) => `${path}?${query.replaceAll('{mod}', String(mod.id))}`)];
}

const sought = encodeURIComponent(ATTACKS[2]!);

/** What an address says is shown too. */
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  '(browse)': [`q=${sought}`],
  '(browse)/g/[game]': [`view=table&q=${sought}`, `tag=${encodeURIComponent(`${SHORT}[tag]`)}&view=table`],
  '(browse)/report': [`resource=mods&id={mod}&back=${encodeURIComponent('javascript:taken()')}`],
  '(making)/g/[game]/m/[mod]/edit/translations': ['language=de', `language=${sought}`],
  '(making)/g/[game]/m/[mod]/edit/dependencies': ['find=img'],
  '(making)/g/[game]/c/[collection]/edit': ['find=img'],
};

type Body = Parameters<typeof encodeForm>[0];

async function send<T>(
  client: Client,
  method: string,
  path: string,
  body: Body,
  headers: Record<string, string> = {},
): Promise<T> {
  const answer = await client.send(method, path, { body: encodeForm(body), headers });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  return answer.body as T;
}
const post = <T>(client: Client, path: string, body: Body, headers?: Record<string, string>) =>
  send<T>(client, 'POST', path, body, headers);
const put = (client: Client, path: string, body: Body) => send<unknown>(client, 'PUT', path, body);

async function refused(client: Client, path: string, body: Body): Promise<void> {
  assert.equal((await client.send('POST', path, { body: encodeForm(body) })).status, 422);
}

/** An image keeps its pixels alone; HTML and SVG are none. */
async function upload(client: Client, path: string): Promise<string> {
  const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#123' } })
    .png()
    .toBuffer();
  const send = (filename: string, bytes: Buffer) => {
    const boundary = '-----hostile';
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="image1"; filename="${filename}"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    return client.send('POST', path, {
      body,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
  };
  for (const [filename, content] of [
    ['x.svg', '<svg xmlns="http://www.w3.org/2000/svg" onload="taken()"><script>taken()</script></svg>'],
    ['x.png', '<svg xmlns="http://www.w3.org/2000/svg" onload="taken()"/>'],
    ['x.html', '<!doctype html><script>taken()</script>'],
  ] as const)
    assert.equal((await send(filename, Buffer.from(content))).status, 422, filename);
  const answer = await send('onerror=taken().html.png', Buffer.concat([png, Buffer.from('<script>taken()</script>')]));
  assert.equal(answer.status, 201, answer.text);
  const { media } = (await client.send('GET', path.replace(/\/media$/, ''))).body as {
    media: { images: { original: string }[] };
  };
  return new URL(media.images[0]!.original).pathname;
}
