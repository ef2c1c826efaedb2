import type { FieldProblem } from '../../errors/catalogue.ts';

/** The fields that contain a name in any operation; names are shown on one line, next to each other. */
const NAME_FIELDS = ['name', 'username', 'name_id', 'position', 'ugc_name', 'token_name', 'tags'];

/** Control and format characters, except the two joiners that emoji and some scripts need. */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

const hasInvisibles = (value: unknown): boolean =>
  typeof value === 'string' ? INVISIBLE.test(value) : Array.isArray(value) && value.some(hasInvisibles);

/** Names with invisible characters, which can imitate another name. */
export const namesWithInvisibles = (fields: Readonly<Record<string, unknown>>): FieldProblem[] =>
  NAME_FIELDS.filter((field) => hasInvisibles(fields[field])).map((field) => ({ field, rule: 'unseen' }));
