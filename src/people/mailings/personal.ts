import type { PersonalData } from '../../platform/personal-data.ts';

export const personalMailings: PersonalData = {
  columns: [],
  traces: [
    {
      table: 'email_opt_outs',
      column: 'address_digest',
      because: 'who wanted no mails wants none after their account is gone either; the address cannot be told from it',
    },
  ],
};
