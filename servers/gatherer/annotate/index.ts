export { AnnotationFile } from './annotation-file.js';
export { FormServer } from './form-server.js';
