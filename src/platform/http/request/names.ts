import type { FieldProblem } from '../../errors/catalogue.ts';

/** Fields that hold a name in any operation; names are shown on one line, next to each other. */
const NAME_FIELDS = ['name', 'username', 'name_id', 'position', 'ugc_name', 'token_name', 'tags'];

/** Control and format characters, except the two joiners that emoji and some scripts need. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

const isUnseen = (value: unknown): boolean =>
  typeof value === 'string' ? UNSEEN.test(value) : Array.isArray(value) && value.some(isUnseen);

/** Names with invisible characters, which can imitate another name. */
export const unseenNames = (fields: Readonly<Record<string, unknown>>): FieldProblem[] =>
  NAME_FIELDS.filter((field) => isUnseen(fields[field])).map((field) => ({ field, rule: 'unseen' }));
