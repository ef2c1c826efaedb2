import { invalidate } from '$app/navigation';

/**
 * Whether the service answers. Loading data without a connection leaves the page, with all that was typed in it and
 * every upload.
 */
export const isReachable = (): Promise<boolean> =>
  fetch('/favicon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/**
 * Loads what depends on this name again, every so many seconds while the page is visible, and at once when it becomes
 * visible after longer. Returns what ends it.
 */
export function refreshed(name: `modstead:${string}`, seconds: number): () => void {
  let last = Date.now();
  const refresh = () => {
    if (document.hidden || Date.now() - last < seconds * 1000 - 50) return;
    last = Date.now();
    void isReachable().then((isReached) => (isReached ? invalidate(name) : undefined));
  };
  const timer = setInterval(refresh, seconds * 1000);
  document.addEventListener('visibilitychange', refresh);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', refresh);
  };
}

interface QueueState {
  readonly waiting: number;
  readonly claimed: number;
  readonly reports: number;
}

/** What a page shows of the queue. */
interface QueueShown extends Omit<QueueState, 'waiting'> {
  readonly waiting: readonly { readonly count: number }[];
}

const isSame = (state: QueueState, { waiting, claimed, reports }: QueueShown): boolean =>
  state.claimed === claimed &&
  state.reports === reports &&
  state.waiting === waiting.reduce((sum, { count }) => sum + count, 0);

/** Starts something whenever the page is visible, and stops it while it is hidden. Returns what ends it. */
function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | undefined;
  const end = () => {
    stop?.();
    stop = undefined;
  };
  const follow = () => {
    if (document.hidden) end();
    else stop ??= start();
  };
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    end();
    document.removeEventListener('visibilitychange', follow);
  };
}

/** Calls `hear` with each event of this kind. The first event of a connection tells what the page was most likely drawn from. */
function streamed<T>(address: string, kind: string, hear: (told: T, isFirst: boolean) => void): () => void {
  let isFirst = true;
  const stream = new EventSource(address);
  stream.addEventListener(kind, ({ data }) => {
    hear(JSON.parse(data) as T, isFirst);
    isFirst = false;
  });
  return () => stream.close();
}

/**
 * Follows a stream while the page is visible. A hidden page gives its connection back, because browsers have few for one
 * site. Returns what ends it.
 */
export const followed = <T>(address: string, kind: string, hear: (told: T, isFirst: boolean) => void): (() => void) =>
  whileVisible(() => streamed(address, kind, hear));

/** Loads the queue of a game again when the service tells of a change in it. */
export const queueFollowed = (admin: string, shown: () => QueueShown): (() => void) =>
  followed<QueueState>(`${admin}/moderation/live`, 'queue', (state, isFirst) => {
    if (!isFirst || !isSame(state, shown())) void invalidate('modstead:queue');
  });

/** Loads what depends on this name again when cooks or deliveries of a game have changed. */
export const activityFollowed = (admin: string, activity: 'cooks' | 'deliveries'): (() => void) => {
  let isNew = true;
  return followed(`${admin}/live?activity=${activity}`, activity, (_, isFirst) => {
    // A later connection may have missed something.
    if (!isFirst || !isNew) void invalidate(`modstead:${activity}`);
    isNew = false;
  });
};

interface StaffState {
  readonly games: number;
  readonly reports: number;
  readonly jobs: { readonly waiting: number; readonly running: number; readonly parked: number };
}

/** Loads pages of the staff again when what waits for them has changed, unless they show it already. */
export const staffFollowed = (isShown: (state: StaffState) => boolean): (() => void) =>
  followed<StaffState>('/admin/live', 'installation', (state) => {
    if (!isShown(state)) void invalidate('modstead:staff');
  });

interface UnreadState {
  readonly count: number;
  readonly ids: readonly number[];
}

/** Starts something once no other page of the site holds this name. Returns what ends it, and gives the name back. */
function held(name: string, start: () => () => void): () => void {
  // Browsers have locks on secure origins only.
  if (!navigator.locks) return start();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  const hold = async () => {
    const stop = start();
    await over;
    stop();
  };
  void navigator.locks.request(name, { signal: waiting.signal }, hold).catch(() => undefined);
  return () => {
    waiting.abort();
    end();
  };
}

const NOTIFICATIONS = 'modstead:notifications';
const ASKS = 'asks';

/**
 * Loads the counts of the header and the list of notifications again when notifications come, are read or are removed. One
 * visible page has the stream and tells the others, because other streams need the connections of a browser more.
 */
export function notificationsFollowed(shown: () => number): () => void {
  let told = '';
  const hear = (state: UnreadState) => {
    const isNew = told !== '' && told !== JSON.stringify(state);
    told = JSON.stringify(state);
    if (isNew || state.count !== shown()) void invalidate('modstead:unread');
  };
  return whileVisible(() => {
    const channel = new BroadcastChannel(NOTIFICATIONS);
    let isLeading = false;
    channel.onmessage = ({ data }: MessageEvent<string>) => {
      if (data !== ASKS) hear(JSON.parse(data));
      else if (isLeading && told !== '') channel.postMessage(told);
    };
    channel.postMessage(ASKS);
    const leave = held(NOTIFICATIONS, () => {
      isLeading = true;
      return streamed<UnreadState>('/notifications/live', 'unread', (state) => {
        hear(state);
        channel.postMessage(told);
      });
    });
    return () => {
      leave();
      channel.close();
    };
  });
}
