import { resource } from '../../platform/manifest/resource.ts';
import { messageOperations } from './operations.ts';
import { personalMessages } from './personal.ts';

export const messages = resource({
  name: 'messages',
  operations: messageOperations,
  personalData: personalMessages,
});
