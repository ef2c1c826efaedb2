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

/**
 * Calls `hear` with each event of this kind, while the page is visible. A hidden page gives its connection back, because
 * browsers have few for one site. The first event of a connection tells what the page was most likely drawn from.
 * Returns what ends it.
 */
export function followed<T>(address: string, kind: string, hear: (told: T, isFirst: boolean) => void): () => void {
  let stream: EventSource | undefined;
  const close = () => {
    stream?.close();
    stream = undefined;
  };
  const open = () => {
    let isFirst = true;
    stream = new EventSource(address);
    stream.addEventListener(kind, ({ data }) => {
      hear(JSON.parse(data) as T, isFirst);
      isFirst = false;
    });
  };
  const follow = () => (document.hidden ? close() : (stream ?? open()));
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    close();
    document.removeEventListener('visibilitychange', follow);
  };
}

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
