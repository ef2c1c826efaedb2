import { createHash, randomBytes } from 'node:crypto';
import {
  addMultipartUploadPart,
  completeMultipartUploadSession,
  createMultipartUploadSession,
  getMultipartUploadParts,
} from '../src/files/uploads/operations.ts';
import { PART_BYTES } from '../src/platform/storage/storage.ts';
import type { Api, Client, Mod } from './api.ts';

export const rangeOf = (start: number, bytes: number, total: number): string =>
  `bytes ${start}-${start + bytes - 1}/${total}`;
export const hashOf = (name: string, bytes: Buffer): string => createHash(name).update(bytes).digest('hex');
/** Random bytes: by default long enough for an archive, and one part. */
export const someBytes = (count = 100): Buffer => randomBytes(count);

/** An upload session and the client that created it. */
export class Session {
  readonly client: Client;
  readonly mod: Mod;
  readonly id: string;

  constructor(client: Client, mod: Mod, id: string) {
    this.client = client;
    this.mod = mod;
    this.id = id;
  }

  get input() {
    return { params: { game_id: this.mod.game_id, mod_id: this.mod.id }, query: { upload_id: this.id } };
  }

  get target(): string {
    return `/v1/games/${this.mod.game_id}/mods/${this.mod.id}/files/multipart?upload_id=${this.id}`;
  }

  /** Sends the part with this number of the whole content. */
  part(whole: Buffer, number = 1, headers: Record<string, string> = {}) {
    const start = (number - 1) * PART_BYTES;
    const raw = whole.subarray(start, start + PART_BYTES);
    return { ...this.input, raw, headers: { 'content-range': rangeOf(start, raw.length, whole.length), ...headers } };
  }

  put(whole: Buffer, number = 1, headers: Record<string, string> = {}) {
    return this.client.call(addMultipartUploadPart, this.part(whole, number, headers));
  }

  /** Names the part with this number, for a client that sends it to the bucket itself. */
  linked(whole: Buffer, number = 1) {
    const start = (number - 1) * PART_BYTES;
    const bytes = whole.subarray(start, start + PART_BYTES);
    const content_range = rangeOf(start, bytes.length, whole.length);
    const digest = `sha-256=${hashOf('sha256', bytes)}`;
    return { params: this.input.params, body: { upload_id: this.id, content_range, digest } };
  }

  complete() {
    return this.client.call(completeMultipartUploadSession, this.input);
  }

  async partNumbers(): Promise<number[]> {
    const { body } = await this.client.call(getMultipartUploadParts, this.input);
    return body.data.map(({ part_number }) => part_number);
  }
}

/** A new session, created by the mod's owner unless a client is given. */
export async function aSession(api: Api, given: { mod?: Mod; client?: Client; nonce?: string } = {}): Promise<Session> {
  const mod = given.mod ?? (await api.aMod());
  const client = given.client ?? (await api.as(mod.owner));
  const answer = await client.call(createMultipartUploadSession, {
    params: { game_id: mod.game_id, mod_id: mod.id },
    body: { filename: 'airship.zip', nonce: given.nonce },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return new Session(client, mod, answer.body.upload_id);
}
