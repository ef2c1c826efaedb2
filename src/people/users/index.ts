import { resource } from '../../platform/manifest/resource.ts';
import { content, KEYED, left, rebuilt } from '../../platform/manifest/treatment.ts';
import { userOperations } from './operations.ts';
import { personalProfiles } from './personal.ts';

export const users = resource({
  name: 'users',
  operations: userOperations,
  tables: {
    users: content({
      pictures: ['avatar'],
      private: { email: null, birth_date: null, country: '', date_locked: null, portal_names: '{}', mature_content: 0 },
    }),
    user_cards: rebuilt('triggers of the table users'),
    remembered_bans: left(KEYED),
  },
  personalData: personalProfiles,
});
