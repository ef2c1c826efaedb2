import type { App } from '../../app.ts';
import { Bytes, Redirect, type StoredFile } from '../operation.ts';
import { attachment } from './disposition.ts';

/** Long enough to start the download. Resuming later requires a new link, which a withdrawn file does not get. */
const LINK_SECONDS = 300;

/** A stored file as a response: sent from here, or a redirect if the storage serves files itself. */
export async function storedAnswer(app: App, file: StoredFile, begun?: () => void): Promise<Bytes | Redirect> {
  if (!app.storage.link) return new Bytes(file, begun);
  const options = { seconds: LINK_SECONDS, type: file.type, disposition: attachment(file.filename) };
  return new Redirect(await app.storage.link(file.key, options), begun);
}
