import { remoteAgent } from 'steadfast';
import { engrave } from '../workflow.ts';

export const handler = remoteAgent(engrave, {
  command: ['python3', 'engrave/main.py'],
  folder: import.meta.dirname,
});
