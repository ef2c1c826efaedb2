import { randomUUID } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureDirectory, writeDurably, writeTemporary } from '../storage/durable.ts';
import { type Mail, type MailMessage, requireSafeHeaders } from './mail.ts';

/** Each message becomes one JSON file. Messages contain sign-in codes, so only the owner may read them. */
export function mailToFiles(folder: string, now: () => number): Mail {
  let sequence = 0;
  return {
    async send(message) {
      requireSafeHeaders(message);
      const date = now();
      const name = message.id === undefined ? nameOf(date, sequence++) : `${message.id}.json`;
      await ensureDirectory(folder, 0o700);
      await writeDurably(join(folder, name), toJson(message, date), 0o600);
    },
    async check() {
      await ensureDirectory(folder, 0o700);
      await unlink(await writeTemporary(folder, (handle) => handle.writeFile('writable')));
    },
    close() {},
  };
}

/** Names sort by time, then by the order of sending; the last part distinguishes processes. */
function nameOf(date: number, sequence: number): string {
  const digits = (value: number, count: number) => String(Math.floor(value)).padStart(count, '0');
  return `${digits(date, 13)}-${digits(sequence, 9)}-${randomUUID().slice(0, 8)}.json`;
}

function toJson({ to, subject, text, html, optOut, id, sender }: MailMessage, date: number): string {
  return `${JSON.stringify({ to, from: sender?.name, subject, text, html, optOut, id, date }, null, 2)}\n`;
}
