import type { createClient, UploadTarget } from '@modstead/client';
import { forgetFile, rememberedFile, rememberFile } from './remembered-file.ts';
import { uploadKey } from './upload-key.ts';

export type Phase = 'reading' | 'sending' | 'checking' | 'waiting' | 'paused' | 'stored' | 'refused';

/** How long to wait for a lost connection before the next attempt. */
const RETRY_MS = 3_000;

interface Remembered {
  readonly name: string;
  readonly size: number;
  /** Set once the service has all parts. */
  readonly uploadId?: string;
  readonly isPaused?: boolean;
}

/** Where a file goes, and the token that the site asks for. */
export interface Destination {
  readonly place: string;
  readonly token: string;
  readonly target: UploadTarget;
}

function rememberedUpload(place: string): Remembered | undefined {
  try {
    return JSON.parse(localStorage.getItem(uploadKey(place)) ?? '') as Remembered;
  } catch {
    return undefined;
  }
}

/** The upload of one file to a mod: it survives lost connections and reloads until it is finished or cancelled. */
export class FileUpload {
  /** The address of the mod's files. */
  readonly place: string;
  readonly name: string;
  readonly size: number;
  phase = $state<Phase>('reading');
  stored = $state(0);
  /** What the parts under way have sent. */
  #underWay = $state<Record<string, number>>({});
  message = $state('');
  uploadId = $state<string>();
  readonly #file: File | undefined;
  readonly #token: string;
  readonly #target: UploadTarget;
  #abort: AbortController | undefined;

  constructor(
    { place, token, target }: Destination,
    { name, size, file }: { name: string; size: number; file?: File },
  ) {
    this.place = place;
    this.#token = token;
    this.#target = target;
    this.#file = file;
    this.name = name;
    this.size = size;
  }

  static of(to: Destination, file: File): FileUpload {
    return new FileUpload(to, { name: file.name, size: file.size, file });
  }

  /** What the service has, with what is on its way to it. */
  get sent(): number {
    if (this.phase === 'stored') return this.size;
    const underWay = Object.values(this.#underWay).reduce((sum, bytes) => sum + bytes, 0);
    return Math.min(this.stored + underWay, this.size);
  }

  /** The upload that a reload interrupted. Without its file, the user has to choose it again. */
  static async remembered(to: Destination): Promise<{ upload?: FileUpload; lost?: Remembered }> {
    const known = rememberedUpload(to.place);
    if (!known) return {};
    if (known.uploadId) {
      const upload = new FileUpload(to, known);
      Object.assign(upload, { phase: 'stored', uploadId: known.uploadId, stored: known.size });
      return { upload };
    }
    const file = await rememberedFile(to.place).catch(() => undefined);
    if (file?.name !== known.name || file.size !== known.size) return { lost: known };
    const upload = FileUpload.of(to, file);
    if (known.isPaused) upload.phase = 'paused';
    return { upload };
  }

  /** Sends what the service lacks, and returns when all of it is stored, the user pauses, or the service refuses it. */
  async run(): Promise<void> {
    const file = this.#file;
    if (!file || this.phase === 'stored') return;
    this.#remember({});
    void rememberFile(this.place, file).catch(() => undefined);
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.phase = 'reading';
    this.message = '';
    while (!signal.aborted) {
      // Loaded with the first upload, and after a lost connection like everything else.
      const client = await import('@modstead/client').catch(() => undefined);
      try {
        if (client) return await this.#send(client, file, signal);
      } catch (error) {
        this.#underWay = {};
        if (signal.aborted) return;
        if (!(error instanceof client!.ConnectionError)) {
          this.phase = 'refused';
          this.message = error instanceof Error ? error.message : String(error);
          return;
        }
      }
      this.phase = 'waiting';
      await connection(signal);
    }
  }

  async #send(client: typeof import('@modstead/client'), file: File, signal: AbortSignal): Promise<void> {
    this.uploadId = await client.uploadInParts(this.#client(client.createClient), this.#target, file, {
      storage: localStorage,
      signal,
      failsOffline: true,
      onProgress: ({ storedBytes }) => {
        this.phase = 'sending';
        this.stored = storedBytes;
      },
    });
    this.phase = 'stored';
    this.#remember({ uploadId: this.uploadId });
    void forgetFile(this.place).catch(() => undefined);
  }

  pause(): void {
    this.#abort?.abort();
    this.phase = 'paused';
    this.#remember({ isPaused: true });
  }

  /** Ends the upload here and at the service. */
  async cancel(): Promise<void> {
    this.#abort?.abort();
    const uploadId = this.uploadId ?? this.#sessionId;
    this.forget();
    if (uploadId)
      await this.#fetch(`${this.place}/parts?upload_id=${encodeURIComponent(uploadId)}`, { method: 'DELETE' });
  }

  forget(): void {
    localStorage.removeItem(uploadKey(this.place));
    const { game_id, mod_id } = this.#target;
    const prefix = `modstead-upload:${location.host}:${game_id}:${mod_id}:`;
    for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
    void forgetFile(this.place).catch(() => undefined);
  }

  #remember(more: Partial<Remembered>): void {
    localStorage.setItem(uploadKey(this.place), JSON.stringify({ name: this.name, size: this.size, ...more }));
  }

  /** The session under way, for cancelling it. */
  #sessionId: string | undefined;

  /** The client of the API, whose requests go to this site's own address of the mod's uploads. */
  #client(create: typeof createClient) {
    return create({
      url: location.origin,
      fetch: (input, init) => {
        const { pathname, searchParams } = new URL(String(input));
        if (pathname.endsWith('/complete')) {
          searchParams.set('complete', '');
          this.phase = 'checking';
        }
        this.#sessionId = searchParams.get('upload_id') ?? this.#sessionId;
        return this.#fetch(`${this.place}/parts?${searchParams}`, init ?? {});
      },
    });
  }

  #fetch(address: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('x-csrf-token', this.#token);
    if (init.method === 'PUT' && init.body instanceof Blob)
      return this.#sendPart(address, init.body, headers, init.signal);
    return fetch(address, { ...init, headers, credentials: 'same-origin' });
  }

  /** `fetch` does not report how much of a body it has sent. */
  #sendPart(address: string, body: Blob, headers: Headers, signal: AbortSignal | null | undefined): Promise<Response> {
    const part = headers.get('content-range') ?? '';
    return new Promise<Response>((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('PUT', address);
      for (const [name, value] of headers) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded }) => {
        this.#underWay = { ...this.#underWay, [part]: loaded };
      };
      request.onload = () => resolve(responseOf(request));
      request.onerror = () => reject(new TypeError('The connection was lost.'));
      request.onabort = () => reject(signal?.reason);
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(body);
    }).finally(() => {
      const { [part]: _, ...others } = this.#underWay;
      this.#underWay = others;
    });
  }
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers({ 'content-type': request.getResponseHeader('content-type') ?? '' });
  const wait = request.getResponseHeader('retry-after');
  if (wait) headers.set('retry-after', wait);
  return new Response(request.responseText, { status: request.status, headers });
}

/** Resolves when the browser is online again, or after a while. */
function connection(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, RETRY_MS);
    addEventListener('online', done);
    signal.addEventListener('abort', done, { once: true });
  });
}
