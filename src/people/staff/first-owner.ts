import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { findUserByEmailIn } from '../users/users.ts';
import { addOwner } from './staff.ts';
import * as store from './store.ts';

const PURPOSE = 'staff/first';

/** The code of the link that the service prints while the site has no staff. It needs no storage, and works in every process. */
export const setupCode = (app: App): string => app.secrets.sign(PURPOSE, 'owner');

export const hasStaff = (app: App): Promise<boolean> => store.hasAny(app.db);

/** Adds the operator of an empty installation as the owner of the site. The code works until there is a first member of staff. */
export async function addFirstOwner(
  app: App,
  { code, email, username }: { readonly code: string; readonly email: string; readonly username: string },
): Promise<void> {
  await app.db.write(async (transaction) => {
    await store.lockAll(transaction);
    if (await store.hasAny(transaction)) throw new ApiError('USER_CANT_ADD_SITE_STAFF');
    if (!app.secrets.verify(PURPOSE, 'owner', code)) throw wrong('code');
    if (await findUserByEmailIn(transaction, email)) throw wrong('email');
    const { id } = await addOwner(app, transaction, { email, username });
    const subject = { resource: 'users', id, gameId: 0 };
    await audit(app, transaction, { actor: id, action: 'staff.first', subject });
  });
}

const wrong = (field: string) => new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });
