/** The platforms that a game can run on. */
export const PLATFORMS = [
  'source',
  'windows',
  'mac',
  'linux',
  'android',
  'ios',
  'xboxone',
  'xboxseriesx',
  'ps4',
  'ps5',
  'switch',
  'switch2',
  'oculus',
  'windowsserver',
  'linuxserver',
] as const;
