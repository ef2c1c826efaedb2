import { columns, command, idOf, misuse } from './invocation/command.ts';
import { auditCommand, requireKnownUser, withApp } from './operator.ts';

const NAME_CHARACTERS_MAX = 80;

export default command({
  name: 'game add',
  usage: '--name N --owner USER_ID [--accepted]',
  says: 'Adds a game and prints its API key, which is shown only once.',
  json: true,
  options: {
    name: { type: 'string', value: 'N', required: true, says: 'at most 80 characters' },
    owner: { type: 'string', value: 'USER_ID', required: true, says: 'becomes administrator of its team' },
    accepted: { type: 'boolean', says: 'make it visible to everyone, not only to its own key and team' },
  },
  run: async ({ values, settings, environment }) => {
    const name = values.name.trim();
    const ownerId = idOf(values.owner, '--owner');
    if (name === '' || name.length > NAME_CHARACTERS_MAX) throw misuse('--name must have 1 to 80 characters.');
    return withApp(settings(), environment, async (app, addresses) => {
      const { addGame } = await import('../catalogue/games/games.ts');
      await requireKnownUser(app, ownerId);
      const game = await app.db.write(async (transaction) => {
        const added = await addGame(app, transaction, { name, ownerId, accepted: values.accepted });
        const subject = { resource: 'games', id: added.id, gameId: added.id };
        await auditCommand(app, transaction, 'games.add', subject, { owner: ownerId, accepted: values.accepted });
        return added;
      });
      const { id, name_id, api_key } = game;
      const api_url = addresses.gameApi(id);
      return {
        object: { id, name_id, api_key, api_url },
        text: columns([
          ['Game', `${id} (${name_id}), ${values.accepted ? 'accepted' : 'not accepted'}`],
          ['API key', `${api_key} (shown only now)`],
          ['API', api_url],
        ]),
      };
    });
  },
});
