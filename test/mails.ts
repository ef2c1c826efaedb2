import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../src/platform/config/addresses.ts';
import type { Api } from './api.ts';

export interface Mail {
  readonly id?: string;
  readonly to: string;
  readonly from?: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  readonly optOut?: string;
}

type Mailing = Pick<Api, 'folder'>;

/** All mails of a service, oldest first, without those that are being written. */
export function mailsOf({ folder }: Mailing, environment: Environment = 'production'): Mail[] {
  const mails = environment === 'production' ? join(folder, 'mail') : join(folder, environment, 'mail');
  const names = existsSync(mails) ? readdirSync(mails).filter((name) => name.endsWith('.json')) : [];
  return names.sort().map((name) => JSON.parse(readFileSync(join(mails, name), 'utf8')) as Mail);
}

/** The mails to an address, oldest first. */
export const mailsTo = (api: Mailing, email: string, environment?: Environment): Mail[] =>
  mailsOf(api, environment).filter(({ to }) => to === email);

/** The codes mailed to an address, oldest first. */
export const codesSentTo = (api: Mailing, email: string, environment?: Environment): string[] =>
  mailsTo(api, email, environment).flatMap(({ text }) => codeIn(text) ?? []);

export const codeIn = (text: string): string | undefined => /\b[A-HJ-NP-Z2-9]{5,8}\b/.exec(text)?.[0];
