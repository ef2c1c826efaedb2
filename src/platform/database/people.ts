// Shared by all resources that show an author, since a store imports no other resource.

/** The columns of the user object except the id, which is often another column. */
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

/** The same for a query that aliases users as `u`. */
export const PERSON = PERSON_COLUMNS.map((name) => `u.${name}` as const);
export const USER = USER_COLUMNS.map((name) => `u.${name}` as const);
