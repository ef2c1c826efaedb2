import { sql } from 'kysely';

/**
 * Joins the ledger transaction `reversal` that takes back the one with this id. The index of reversals contains no other
 * transactions, and SQLite uses it only if the comparison with 0 is a literal.
 */
export const takesBack = (reversal: string, id: string) => {
  const reversed = sql.ref(`${reversal}.reverses_id`);
  return sql<boolean>`(${reversed} = ${sql.ref(id)} and ${reversed} > 0)`;
};
