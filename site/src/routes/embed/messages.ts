/** The messages between an embedded page and the page around it; docs/embedding.md describes them. */
export type Sent =
  | { readonly type: 'modstead:ready'; readonly game_id: number }
  | { readonly type: 'modstead:size'; readonly height: number }
  | { readonly type: 'modstead:select'; readonly mod: SelectedMod };

export interface SelectedMod {
  readonly id: number;
  readonly game_id: number;
  readonly name: string;
  readonly name_id: string;
  readonly profile_url: string;
  /** 0 without a file. */
  readonly modfile_id: number;
}

/** Everything in a message is public, so every origin may read it. */
export function send(message: Sent): void {
  if (window.parent !== window) window.parent.postMessage(message, '*');
}

/** Calls back with the words that the page around searches for, until the returned function is called. */
export function onSearch(search: (query: string) => void): () => void {
  const listen = ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || typeof data !== 'object' || data === null) return;
    const { type, query } = data as { type?: unknown; query?: unknown };
    if (type === 'modstead:search' && typeof query === 'string') search(query.slice(0, 200));
  };
  addEventListener('message', listen);
  return () => removeEventListener('message', listen);
}

/** Reports the height of the page whenever it changes, until the returned function is called. */
export function reportSize(): () => void {
  const observer = new ResizeObserver(() =>
    send({ type: 'modstead:size', height: document.documentElement.scrollHeight }),
  );
  observer.observe(document.body);
  return () => observer.disconnect();
}
