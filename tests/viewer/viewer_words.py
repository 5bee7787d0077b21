"""Words with which tests do the commands that need some."""

WORDS = {
    "highlight by label": "block", "select by label": "fem", "legend extents": "0 1", "Euler cut": "-y:0", "colours": "classic", "seek to": "0.01",
    "frame": "2", "skip": "2", "speed": "0.5", "result": "sx", "look": "10,20", "PNG": "picture", "BMP": "picture", "PDF": "picture", "EPS": "picture",
    "Lagrange cut": "x:0", "move cut": "1 0.1", "remove cut": "1", "hide body": "2", "show body": "2", "inspect": "4", "click": "0.5 0.5",
    "rectangle": "0.4 0.4 0.6 0.6", "plot": "dz", "run until": "1", "AVI START/STOP": "film.gif", "HTML": "page", "font size": "17", "copy message": "",
    "run python script": "script 1", "python": "print(solfec.time)", "save script": "log", "save state": "state.json", "load state": "state.json",
    "camera": '{"target": [0, 0, 1], "distance": 9, "rotation": [[1, 0, 0], [0, 0, 1], [0, -1, 0]], "ortho": false}', "save camera": "camera.json",
    "load camera": "camera.json", "modal analysis": "8", "modal shape": "7", "follow body": "2", "ride body": "5", "toggle rough mesh": "fem", "spin": "30", "picture scale": "2",
}  # fmt: skip
