import { form, objectOf, stringOf } from '../../../signin/portals/platform-requests.ts';
import { type Asking, type KnownPurchase, type Reversals, StoreRefusal, StoreUnavailable } from '../adapter.ts';
import { askStore, countOf, everyPage, fetchStore, optionalSetting, requireOk, requireSetting } from '../asking.ts';
import { serverAuthorization } from '../server-tokens.ts';

const LOGIN = 'https://login.microsoftonline.com';
const PURCHASE = 'https://purchase.mp.microsoft.com';
/** What the token is for: the services of the store. */
const RESOURCE = 'https://onestore.microsoft.com';
const QUEUE_HOST = /\.queue\.core\.windows\.net$/;
const QUEUE_VERSION = '2021-12-02';
/** The most that the queue returns at once. */
const MESSAGES_AT_ONCE = 32;
/** Messages that were read are hidden for this long, so that the next request returns others. */
const HIDDEN_SECONDS = 600;

/** The lines of orders that a consumption used up, as its handle names them. */
export const LINES = 'lines';

interface Message {
  readonly id: string;
  readonly receipt: string;
  /** The line of an order that was taken back after it was consumed. */
  readonly line: string | undefined;
}

/**
 * Refunds of the Microsoft Store, which it writes to a queue at Azure. A purchase is taken back when all lines that it
 * consists of are. Messages about anything else stay in the queue, because the studio may read it as well.
 */
export async function clawedBackOf(asking: Asking, known: readonly KnownPurchase[]): Promise<Reversals> {
  if (!optionalSetting(asking.settings, 'client_id')) return { references: [] };
  const queue = await queueOf(asking);
  const messages = await messagesIn(asking, queue);
  const revoked = new Set(messages.flatMap(({ line }) => line ?? []));
  const taken = known.filter((purchase) => {
    const lines = linesOf(purchase);
    return lines.length > 0 && lines.every((line) => revoked.has(line));
  });
  const settled = new Set(taken.flatMap(linesOf));
  return {
    references: taken.map(({ reference }) => reference),
    acknowledge: async () => {
      for (const message of messages)
        if (message.line && settled.has(message.line)) await remove(asking, queue, message);
    },
  };
}

const linesOf = ({ handle }: KnownPurchase): string[] => (handle[LINES] ?? '').split(' ').filter((line) => line !== '');

function authorization(asking: Asking): Promise<{ authorization: string }> {
  const { gameId, settings } = asking;
  const account = `xboxlive ${gameId} ${requireSetting(settings, 'client_id')}`;
  return serverAuthorization(asking, account, requireSetting(settings, 'client_secret'), () => entraToken(asking));
}

async function entraToken(asking: Asking): Promise<{ token: string; seconds: number }> {
  const { settings } = asking;
  const request = form({
    grant_type: 'client_credentials',
    client_id: requireSetting(settings, 'client_id'),
    client_secret: requireSetting(settings, 'client_secret'),
    resource: RESOURCE,
  });
  const url = `${LOGIN}/${encodeURIComponent(requireSetting(settings, 'tenant_id'))}/oauth2/token`;
  const answer = await askStore(asking, 'xboxlive', url, { ...request, rejects: 'settings' });
  if (!answer.ok) throw new StoreRefusal('settings', 'Microsoft rejects the Entra application');
  const { access_token, expires_in } = requireOk(answer);
  if (!stringOf(access_token)) throw new StoreUnavailable('Microsoft sent no token');
  return { token: stringOf(access_token), seconds: countOf(expires_in, 0) };
}

/** The address of the queue, with the signature that opens it. */
async function queueOf(asking: Asking): Promise<URL> {
  const request = { headers: await authorization(asking), rejects: 'settings' as const };
  const { uri } = requireOk(await askStore(asking, 'xboxlive', `${PURCHASE}/v8.0/b2b/clawback/sastoken`, request));
  const queue = URL.parse(stringOf(uri));
  // The answer names the host that the signature is sent to.
  if (queue?.protocol !== 'https:' || !QUEUE_HOST.test(queue.hostname))
    throw new StoreUnavailable('Microsoft named no queue');
  return queue;
}

function atQueue(queue: URL, path: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(queue);
  url.pathname += path;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function askQueue(asking: Asking, url: string, method: 'GET' | 'DELETE') {
  const headers = { 'x-ms-version': QUEUE_VERSION };
  return fetchStore(asking, 'xboxlive', url, { method, headers, rejects: 'settings' });
}

function messagesIn(asking: Asking, queue: URL): Promise<Message[]> {
  const wanted = { numofmessages: String(MESSAGES_AT_ONCE), visibilitytimeout: String(HIDDEN_SECONDS) };
  return everyPage('0', async (page) => {
    const { status, text } = await askQueue(asking, atQueue(queue, '/messages', wanted), 'GET');
    if (status !== 200 || !text.includes('<QueueMessagesList')) throw new StoreUnavailable('the queue did not answer');
    const items = [...text.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, message]) => messageOf(message!));
    return { items, next: items.length < MESSAGES_AT_ONCE ? '' : String(Number(page) + 1) };
  });
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function messageOf(xml: string): Message {
  const element = (name: string) =>
    (new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml)?.[1] ?? '').replace(
      /&(amp|lt|gt|quot|apos);/g,
      (_, entity: string) => ENTITIES[entity]!,
    );
  return { id: element('MessageId'), receipt: element('PopReceipt'), line: lineIn(element('MessageText')) };
}

/** `Refunded` means that nothing was consumed yet: the store has taken it back itself. */
function lineIn(text: string): string | undefined {
  try {
    const event = text.startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8');
    const { lineItemId, refundState } = objectOf(objectOf(JSON.parse(event))['data']);
    return refundState === 'Revoked' ? stringOf(lineItemId).toLowerCase() || undefined : undefined;
  } catch (error) {
    // A message of another kind is not ours to read.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function remove(asking: Asking, queue: URL, { id, receipt }: Message): Promise<void> {
  const url = atQueue(queue, `/messages/${encodeURIComponent(id)}`, { popreceipt: receipt });
  // One that stays is read again, and changes nothing then.
  await askQueue(asking, url, 'DELETE');
}
