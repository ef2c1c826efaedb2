import { z } from 'zod';
import { addOwner } from '../people/staff/staff.ts';
import { addUser, findUserByEmailIn } from '../people/users/users.ts';
import { isDuplicate } from '../platform/database/database.ts';
import { columns, command, misuse, Refusal } from './invocation/command.ts';
import { auditCommand, withApp } from './operator.ts';

const Email = z.email().max(254);
const Username = z.string().trim().min(1).max(80);

export default command({
  name: 'user add',
  usage: '--email E --username U [--admin]',
  says: 'Adds a user and prints their API key, which is shown only once.',
  json: true,
  options: {
    email: { type: 'string', value: 'E', required: true, says: 'where sign-in codes are sent' },
    username: { type: 'string', value: 'U', required: true, says: 'shown to others, at most 80 characters' },
    admin: { type: 'boolean', says: 'make the user an owner of the site, who may do everything in every game' },
  },
  run: async ({ values, settings, environment }) => {
    const email = Email.safeParse(values.email.trim());
    if (!email.success) throw misuse(`--email must be an email address, not "${values.email}".`);
    const username = Username.safeParse(values.username);
    if (!username.success) throw misuse('--username must have 1 to 80 characters.');
    const taken = () => new Refusal(`The email address ${email.data} is taken by another user.`);
    return withApp(settings(), environment, async (app, addresses) => {
      const user = await app.db
        .write(async (transaction) => {
          if (await findUserByEmailIn(transaction, email.data)) throw taken();
          const person = { email: email.data, username: username.data };
          const added = await (values.admin ? addOwner : addUser)(app, transaction, person);
          await auditCommand(
            app,
            transaction,
            'users.add',
            { resource: 'users', id: added.id },
            { admin: values.admin },
          );
          return added;
        })
        .catch((error) => {
          throw isDuplicate(error) ? taken() : error;
        });
      const { id, name_id, api_key } = user;
      const api_url = addresses.userApi(id);
      return {
        object: { id, name_id, username: user.username, email: user.email, api_key, api_url },
        text: columns([
          ['User', `${id} (${name_id})${values.admin ? ', owner of the site' : ''}`],
          ['API key', `${api_key} (shown only now)`],
          ['API', api_url],
        ]),
      };
    });
  },
});
