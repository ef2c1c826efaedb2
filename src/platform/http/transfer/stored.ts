import type { App } from '../../app.ts';
import { Bytes, Redirect, type StoredFile } from '../operation.ts';
import { attachment } from './disposition.ts';

/** Long enough to begin with. Whoever goes on later asks anew, and what was withdrawn meanwhile is refused. */
const LINK_SECONDS = 300;

/** A stored file as an answer: sent from here, or where the storage hands files out itself, its address there. */
export async function storedAnswer(app: App, file: StoredFile, begun?: () => void): Promise<Bytes | Redirect> {
  if (!app.storage.link) return new Bytes(file, begun);
  const options = { seconds: LINK_SECONDS, type: file.type, disposition: attachment(file.filename) };
  return new Redirect(await app.storage.link(file.key, options), begun);
}
