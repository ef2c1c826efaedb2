// Every noun that shows who made something reads the same of them; a store can import no other noun.

/** What the user object is made of besides the id, which is often another column of the noun that shows it. */
const PERSON_COLUMNS = [
  'name_id',
  'username',
  'date_online',
  'date_joined',
  'avatar',
  'timezone',
  'language',
  'portal_names',
] as const;

export const USER_COLUMNS = ['id', ...PERSON_COLUMNS] as const;

/** The same, of a query that calls people `u`. */
export const PERSON = PERSON_COLUMNS.map((name) => `u.${name}` as const);
export const USER = USER_COLUMNS.map((name) => `u.${name}` as const);
