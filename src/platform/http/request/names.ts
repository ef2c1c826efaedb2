import type { FieldProblem } from '../../errors/catalogue.ts';

/** Fields that are names, in whichever operation: they are shown on one line, beside other names. */
const NAME_FIELDS = ['name', 'username', 'name_id', 'position', 'ugc_name', 'token_name', 'tags'];

/** Control and format characters, but for the two joiners that emoji and some scripts need. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u;

const isUnseen = (value: unknown): boolean =>
  typeof value === 'string' ? UNSEEN.test(value) : Array.isArray(value) && value.some(isUnseen);

/** Names that hold characters which nobody sees, and which make one name look like another. */
export const unseenNames = (fields: Readonly<Record<string, unknown>>): FieldProblem[] =>
  NAME_FIELDS.filter((field) => isUnseen(fields[field])).map((field) => ({ field, rule: 'unseen' }));
