import { resource } from '../../platform/manifest/resource.ts';
import { people, service } from '../../platform/manifest/treatment.ts';
import { messageOperations } from './operations.ts';
import { personalMessages } from './personal.ts';

export const messages = resource({
  name: 'messages',
  operations: messageOperations,
  tables: {
    message_settings: people({ notOfGames: true }),
    message_threads: service({ notOfGames: true }),
    message_members: service({ notOfGames: true }),
    messages: service({ notOfGames: true, markup: ['markup'] }),
  },
  personalData: personalMessages,
});
