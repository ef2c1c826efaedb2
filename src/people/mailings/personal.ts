import type { PersonalData } from '../../platform/personal-data.ts';

export const personalMailings: PersonalData = {
  columns: [],
  traces: [
    {
      table: 'email_opt_outs',
      column: 'address_digest',
      because: 'the opt-out outlasts the account; the address cannot be derived from its digest',
    },
  ],
};
