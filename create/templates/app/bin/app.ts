import { App } from 'aws-cdk-lib/core';
import { AppStack } from '../lib/app-stack.js';

const app = new App();
new AppStack(app, '__stack__');
