/** Users paste links in many forms. They are stored in one, so that each video and model exists once. */
const FORMS = {
  youtube: {
    hosts: /^(?:(?:www|m|music)\.)?(?:youtube\.com|youtube-nocookie\.com)$|^youtu\.be$/,
    id: /^[\w-]{11}$/,
    stored: (id: string) => `https://www.youtube.com/watch?v=${id}`,
  },
  sketchfab: {
    hosts: /^(?:www\.)?sketchfab\.com$/,
    id: /^[0-9a-f]{32}$/,
    stored: (id: string) => `https://sketchfab.com/models/${id}`,
  },
} as const;

export type LinkKind = keyof typeof FORMS;

/** The link in its stored form, or undefined if it leads to no video or model. */
export function linkOf(kind: LinkKind, sent: string): string | undefined {
  const url = addressOf(sent);
  const { hosts, id, stored } = FORMS[kind];
  if (!url || !hosts.test(url.hostname)) return undefined;
  const named = kind === 'youtube' ? videoIn(url) : modelIn(url);
  return named !== undefined && id.test(named) ? stored(named) : undefined;
}

/** Users also paste links without `https://`. */
function addressOf(sent: string): URL | undefined {
  const text = /^https?:\/\//i.test(sent) ? sent : `https://${sent}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.username === '' && url.password === '' && url.port === '' ? url : undefined;
}

function videoIn({ hostname, pathname, searchParams }: URL): string | undefined {
  const [first, second] = pathname.slice(1).split('/');
  if (hostname === 'youtu.be') return first;
  if (first === 'watch') return searchParams.get('v') ?? undefined;
  return ['embed', 'shorts', 'live', 'v'].includes(first!) ? second : undefined;
}

/** `/models/<id>`, optionally followed by `/embed`, and `/3d-models/<name>-<id>`. */
function modelIn({ pathname }: URL): string | undefined {
  const [first, second = ''] = pathname.slice(1).split('/');
  if (first === 'models') return second;
  return first === '3d-models' ? second.split('-').at(-1) : undefined;
}
